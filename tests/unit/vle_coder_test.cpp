// The CPU's encoders agree with a bit-by-bit encoder, its decoder agrees with them, and both refuse what they
// must.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "cu264/status.h"
#include "cu264/vle.h"
#include "tests/support/quick.h"
#include "tests/unit/vle_inputs.h"

namespace cu264 {
namespace {

using namespace test;
using vle::CodeTable;

constexpr std::uint8_t kPoison = 0xa5;

// Code lengths 1, 2, 3 .. 31, 32, 32.
CodeTable deepest_table() {
  CodeTable table;
  for (int s = 0; s < 33; ++s) {
    table.length[s] = static_cast<std::uint8_t>(std::min(s + 1, 32));
    const std::uint64_t ones = (std::uint64_t{1} << table.length[s]) - 1;
    table.code[s] = static_cast<std::uint32_t>(s < 32 ? ones - 1 : ones);
  }
  return table;
}

// The message of the Error that `call` throws; checks its code.
void expect_refused(ErrorCode code, const std::string& text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "taken, though: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

void expect_coded_like(const BitByBit& expected, const CodeTable& table, const ByteVector& input,
                       int threads) {
  ByteVector output(expected.stream.size() + 16, kPoison);
  std::vector<std::uint64_t> index(expected.chunk_index.size());
  const std::span<std::uint8_t> fitting(output.data(), expected.stream.size());
  ASSERT_EQ(vle::encode(table, input, fitting, index, threads), expected.bits);
  ASSERT_TRUE(std::equal(expected.stream.begin(), expected.stream.end(), output.begin()));
  for (std::size_t i = expected.stream.size(); i < output.size(); ++i) ASSERT_EQ(output[i], kPoison);
  ASSERT_EQ(index, expected.chunk_index);
  ASSERT_EQ(vle::encode(table, input, fitting, {}, threads), expected.bits);

  ByteVector decoded(input.size() + 16, kPoison);
  const std::span<std::uint8_t> symbols(decoded.data(), input.size());
  vle::decode(table, expected.stream, expected.bits, symbols, index, threads);
  ASSERT_TRUE(std::equal(input.begin(), input.end(), decoded.begin()));
  for (std::size_t i = input.size(); i < decoded.size(); ++i) ASSERT_EQ(decoded[i], kPoison);
  std::fill(decoded.begin(), decoded.end(), 0);
  vle::decode(table, expected.stream, expected.bits, symbols);
  ASSERT_TRUE(std::equal(input.begin(), input.end(), decoded.begin()));
}

TEST(VleCoder, EverySizeLikeBitByBit) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= 70; ++size) sizes.push_back(size);
  for (const std::size_t size : {1023, 1024, 1025, 2047, 131071, 131072, 131073, 132096, 300001}) {
    sizes.push_back(size);
  }
  for (const std::size_t size : sizes) {
    for (const NamedInput& input : inputs_of_size(size)) {
      SCOPED_TRACE(input.name + ", " + std::to_string(size) + " bytes");
      const vle::Histogram histogram = vle::histogram(input.bytes);
      for (const int longest : {12, 16, 32}) {
        const CodeTable table = vle::make_code_table(histogram, longest);
        const BitByBit expected = encode_bit_by_bit(table, input.bytes);
        ASSERT_EQ(vle::stream_bits(table, histogram), expected.bits);
        ASSERT_EQ(vle::stream_bytes(expected.bits), expected.stream.size());
        for (const int threads : {1, 0}) {
          ASSERT_NO_FATAL_FAILURE(expect_coded_like(expected, table, input.bytes, threads)) << threads;
        }
      }
    }
  }
}

// Codes that are neither complete nor canonical, and the longest codes that are allowed.
TEST(VleCoder, AnyPrefixCode) {
  CodeTable sparse;
  sparse.length[5] = 3, sparse.code[5] = 5;
  sparse.length[6] = 32, sparse.code[6] = 0x12345678;
  sparse.length[7] = 13, sparse.code[7] = 0x1fff;
  CodeTable words;
  for (int s = 0; s < vle::kSymbols; ++s)
    words.length[s] = 32, words.code[s] = 0xfedcba98u ^ (s * 0x01010101u);
  struct Case {
    CodeTable table;
    int first, symbols;
  };
  for (const Case& c : {Case{deepest_table(), 0, 33}, Case{sparse, 5, 3}, Case{words, 0, 256}}) {
    for (const std::size_t size : {1, 2, 3, 1024, 200003}) {
      ByteVector input = random_bytes(size, c.symbols, 9);
      for (std::uint8_t& symbol : input) symbol = static_cast<std::uint8_t>(symbol + c.first);
      const BitByBit expected = encode_bit_by_bit(c.table, input);
      for (const int threads : {1, 0}) {
        ASSERT_NO_FATAL_FAILURE(expect_coded_like(expected, c.table, input, threads)) << size;
      }
    }
  }
}

TEST(VleCoder, AnyAlignment) {
  const ByteVector input = random_bytes(5000, 200, 1);
  const CodeTable table = vle::make_code_table(vle::histogram(input));
  for (std::size_t skip = 0; skip < 9; ++skip) {
    const ByteVector part(input.begin() + static_cast<std::ptrdiff_t>(skip), input.end());
    const BitByBit expected = encode_bit_by_bit(table, part);
    ByteVector output(expected.stream.size() + skip, kPoison);
    ASSERT_EQ(vle::encode(table, std::span(input).subspan(skip), std::span(output).subspan(skip)),
              expected.bits);
    ASSERT_TRUE(std::equal(expected.stream.begin(), expected.stream.end(),
                           output.begin() + static_cast<std::ptrdiff_t>(skip)));
  }
}

TEST(VleCoder, Corpora) {
  const std::vector<NamedInput> files = corpora();
  if (files.empty()) GTEST_SKIP() << kNoCorpora;
  for (const NamedInput& file : files) {
    SCOPED_TRACE(file.name);
    const CodeTable table = vle::make_code_table(vle::histogram(file.bytes, 0));
    const BitByBit expected = encode_bit_by_bit(table, file.bytes);
    for (const int threads : {1, 0}) {
      ASSERT_NO_FATAL_FAILURE(expect_coded_like(expected, table, file.bytes, threads));
    }
  }
}

TEST(VleCoder, HistogramCountsEveryByte) {
  for (const std::size_t size : {0, 1, 7, 8, 9, 1000003}) {
    const ByteVector input = steep_bytes(size, 3);
    vle::Histogram expected{};
    for (const std::uint8_t byte : input) ++expected[byte];
    EXPECT_EQ(vle::histogram(input, 1), expected);
    EXPECT_EQ(vle::histogram(input, 0), expected);
  }
}

TEST(VleCoder, NamesTheMissingSymbol) {
  CodeTable table = vle::make_code_table(vle::histogram(random_bytes(1000, 60, 1)));
  for (const std::size_t at : {0u, 1u, 1023u, 1024u, 150000u}) {
    ByteVector input = random_bytes(150001, 60, 2);
    input[at] = 'z';
    ByteVector output(input.size() * 2);
    for (const int threads : {1, 0}) {
      expect_refused(ErrorCode::invalid_argument, "symbol 122 ('z')",
                     [&] { vle::encode(table, input, output, {}, threads); });
    }
    expect_refused(ErrorCode::invalid_argument, "symbol 122 ('z')",
                   [&] { vle::stream_bits(table, vle::histogram(input)); });
  }
  // All symbols are missing from the code.
  const ByteVector none(200000, 200);
  ByteVector output(16);
  expect_refused(ErrorCode::invalid_argument, "symbol 200", [&] { vle::encode({}, none, output, {}, 0); });
  expect_refused(ErrorCode::invalid_argument, "symbol 200", [&] { vle::encode({}, none, output); });
}

TEST(VleCoder, OutputTooSmall) {
  for (const std::size_t size : {1u, 5u, 1024u, 3000u, 200000u}) {
    const ByteVector input = random_bytes(size, 100, 5);
    const CodeTable table = vle::make_code_table(vle::histogram(input));
    const std::size_t needed = encode_bit_by_bit(table, input).stream.size();
    for (const std::size_t capacity : {std::size_t{0}, needed / 2, needed - 1}) {
      for (const int threads : {1, 0}) {
        ByteVector output(needed + 64, kPoison);
        expect_refused(ErrorCode::invalid_argument, "it needs " + std::to_string(needed) + " bytes",
                       [&] { vle::encode(table, input, std::span(output).first(capacity), {}, threads); });
        for (std::size_t i = capacity; i < output.size(); ++i) ASSERT_EQ(output[i], kPoison) << i;
      }
    }
  }
}

TEST(VleCoder, RefusesBadTablesAndIndexes) {
  CodeTable table;
  table.length[1] = 2, table.code[1] = 4;
  ByteVector input(10, 1), output(100);
  expect_refused(ErrorCode::invalid_argument, "symbol 1 ", [&] { vle::encode(table, input, output); });
  table.length[1] = 33;
  expect_refused(ErrorCode::invalid_argument, "symbol 1 ", [&] { vle::encode(table, input, output); });
  table.length[1] = 2, table.code[1] = 2;
  table.length[2] = 5, table.code[2] = 0x15;
  expect_refused(ErrorCode::invalid_argument, "beginning of the other",
                 [&] { vle::decode(table, output, 8, input); });
  table.length[2] = 2, table.code[2] = 2;
  expect_refused(ErrorCode::invalid_argument, "beginning of the other",
                 [&] { vle::decode(table, output, 8, input); });
  table.code[2] = 3;
  std::vector<std::uint64_t> index(2);
  expect_refused(ErrorCode::invalid_argument, "it needs 1",
                 [&] { vle::encode(table, input, output, index); });
}

TEST(VleCoder, DamagedStreams) {
  const ByteVector input = steep_bytes(5000, 7);
  const CodeTable table = vle::make_code_table(vle::histogram(input));
  const BitByBit good = encode_bit_by_bit(table, input);
  ByteVector output(input.size());
  const auto decode = [&](const BitByBit& bad, std::size_t size, bool indexed) {
    output.resize(size);
    vle::decode(table, bad.stream, bad.bits, output, indexed ? bad.chunk_index : std::vector<std::uint64_t>{},
                0);
  };
  decode(good, input.size(), true);
  for (const bool indexed : {false, true}) {
    BitByBit bad = good;
    bad.stream.resize(bad.stream.size() / 2);
    expect_refused(ErrorCode::bad_input, "too short", [&] { decode(bad, input.size(), indexed); });
    bad = good, --bad.bits, bad.stream.back() = 0;
    expect_refused(ErrorCode::bad_input, "damaged", [&] { decode(bad, input.size(), indexed); });
    expect_refused(ErrorCode::bad_input, "damaged", [&] { decode(good, input.size() - 1, indexed); });
  }
  BitByBit bad = good;
  std::swap(bad.chunk_index[1], bad.chunk_index[2]);
  expect_refused(ErrorCode::bad_input, "chunk index", [&] { decode(bad, input.size(), true); });
  bad.chunk_index = good.chunk_index, bad.chunk_index[3] = std::numeric_limits<std::uint64_t>::max();
  expect_refused(ErrorCode::bad_input, "chunk index", [&] { decode(bad, input.size(), true); });
  bad.chunk_index = good.chunk_index, bad.chunk_index[0] = 1;
  expect_refused(ErrorCode::bad_input, "chunks", [&] { decode(bad, input.size(), true); });
  if (good.bits % 8 != 0) {
    bad = good, bad.stream.back() |= 1;
    expect_refused(ErrorCode::bad_input, "not zero", [&] { decode(bad, input.size(), false); });
  }
}

// Any bits, with complete and incomplete codes, are refused or decoded to symbols that have the same bits as
// their code.
TEST(VleCoder, RandomBitsDecodeToThemselvesOrNotAtAll) {
  int decoded = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const ByteVector like = steep_bytes(300, seed);
    const CodeTable table =
        seed % 3 == 0 ? deepest_table() : vle::make_code_table(vle::histogram(like), seed % 3 == 1 ? 16 : 32);
    BitByBit random{random_bytes(60, 256, seed), 480, {}};
    for (std::size_t size = 1; size < 300; ++size) {
      ByteVector symbols(size);
      try {
        vle::decode(table, random.stream, random.bits, symbols);
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::bad_input);
        continue;
      }
      ++decoded;
      ASSERT_EQ(encode_bit_by_bit(table, symbols).stream, random.stream);
    }
  }
  EXPECT_GT(decoded, 10);
}

TEST(VleCoder, LengthsBeyond32Bits) {
  CodeTable table = vle::make_code_table(vle::histogram(random_bytes(5000, 256, 1)), 16);
  vle::Histogram histogram{};
  histogram[7] = std::uint64_t{5} << 32;
  EXPECT_EQ(vle::stream_bits(table, histogram), (std::uint64_t{5} << 32) * table.length[7]);
  EXPECT_EQ(vle::stream_bytes((std::uint64_t{5} << 35) + 1), (std::uint64_t{5} << 32) + 1);
  EXPECT_EQ(vle::stream_bytes(std::numeric_limits<std::uint64_t>::max()), std::uint64_t{1} << 61);
  histogram[7] = std::numeric_limits<std::uint64_t>::max();
  expect_refused(ErrorCode::invalid_argument, "2^64", [&] { vle::stream_bits(table, histogram); });
}

// 2^32 bits and more, with several threads and with one.
TEST(VleCoder, StreamsBeyond512MiB) {
  if (quick()) GTEST_SKIP() << "CU264_TEST_QUICK: 0.8 GB of memory";
  CodeTable table;
  table.length['x'] = 16, table.code['x'] = 0xabcd;
  const std::size_t size = (std::size_t{1} << 28) + 5000;
  const ByteVector input(size, 'x');
  ByteVector output(2 * size);
  std::vector<std::uint64_t> index(vle::chunk_count(size));
  for (const int threads : {1, 0}) {
    ASSERT_EQ(vle::encode(table, input, output, index, threads), std::uint64_t{16} * size);
    for (std::size_t chunk = 0; chunk < index.size(); ++chunk) {
      ASSERT_EQ(index[chunk], std::uint64_t{16} * vle::kChunkSymbols * chunk);
    }
    for (std::size_t i = 0; i < output.size(); i += 2) {
      if (output[i] != 0xab || output[i + 1] != 0xcd) FAIL() << "byte " << i << ", threads " << threads;
    }
    if (threads == 0) break;
    std::fill(output.begin(), output.end(), kPoison);
  }
  // The part beyond 2^32 bits, and a little before it.
  const std::size_t first = index.size() - 8, symbols = size - first * vle::kChunkSymbols;
  std::vector<std::uint64_t> last_index(index.begin() + static_cast<std::ptrdiff_t>(first), index.end());
  EXPECT_GT(last_index.back(), std::uint64_t{1} << 32);
  for (std::uint64_t& start : last_index) start -= index[first];
  ByteVector decoded(symbols);
  vle::decode(table, std::span(output).subspan(index[first] / 8), std::uint64_t{16} * symbols, decoded,
              last_index, 0);
  EXPECT_EQ(decoded, ByteVector(symbols, 'x'));
}

TEST(VleCoder, DeviceFunctionsSayWhatTheyNeed) {
  std::size_t scratch = 0;
  try {
    vle::device_encode(nullptr, scratch, {}, nullptr);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::device_unavailable || error.code() == ErrorCode::device_failure)
        << error.what();
  }
}

}  // namespace
}  // namespace cu264
