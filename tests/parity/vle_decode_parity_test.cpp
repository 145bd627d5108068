// The fast encoder's chunk index and the GPU decoder agree with a bit-by-bit encoder written here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "entropy/vle/fast.h"
#include "tests/parity/device_test.h"
#include "tests/parity/vle_decode_device.h"
#include "tests/parity/vle_device.h"

namespace cu264::parity {
namespace {

IndexedStream encode_bit_by_bit(const vle::CodeTable& table, const Bytes& input) {
  IndexedStream stream;
  std::uint64_t& bits = stream.result.bits;
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (i % vle::kChunkSymbols == 0) stream.index.push_back(bits);
    for (int bit = table.length[input[i]] - 1; bit >= 0; --bit, ++bits) {
      if (bits % 32 == 0) stream.bytes.insert(stream.bytes.end(), 4, 0);
      if ((table.code[input[i]] >> bit & 1) != 0) stream.bytes[bits / 8] |= 0x80 >> bits % 8;
    }
  }
  return stream;
}

// Canonical codes: the first symbols have codes of these ascending lengths.
vle::CodeTable table_of(const std::vector<int>& lengths) {
  vle::CodeTable table;
  std::uint32_t code = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (i > 0) code = (code + 1) << (lengths[i] - lengths[i - 1]);
    table.code[i] = code;
    table.length[i] = static_cast<std::uint8_t>(lengths[i]);
  }
  return table;
}

struct Case {
  const char* name;
  vle::CodeTable table;
  int symbols;
  bool halving;  // symbol s has probability 2^-(s + 1); otherwise all symbols are equally likely
};

std::vector<Case> cases() {
  std::vector<int> fibonacci;
  for (int length = 1; length < 16; ++length) fibonacci.push_back(length);
  fibonacci.insert(fibonacci.end(), 2, 16);
  const std::vector<int> text{3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 13};
  std::vector<int> mixed(127, 7);  // and 129 codes of 14 bits, whose first 7 bits are ones
  mixed.insert(mixed.end(), 128, 14);
  return {{"one bit", table_of({1}), 1, false},
          {"two symbols", table_of({1, 1}), 2, false},
          {"text", table_of(text), 20, false},
          {"256 of 8 bits", table_of(std::vector<int>(256, 8)), 256, false},
          {"256 of 16 bits", table_of(std::vector<int>(256, 16)), 256, false},
          {"7 and 14 bits", table_of(mixed), 255, false},
          {"Fibonacci", table_of(fibonacci), 17, true},
          {"Fibonacci, long codes", table_of(fibonacci), 17, false}};
}

Bytes input_for(const Case& test, std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes input(size);
  for (auto& symbol : input) {
    int value = 0;
    if (test.halving) {
      while (value < test.symbols - 1 && (random() & 1) != 0) ++value;
    } else {
      value = static_cast<int>(random() % static_cast<unsigned>(test.symbols));
    }
    symbol = static_cast<std::uint8_t>(value);
  }
  return input;
}

const std::vector<std::size_t> kSmallSizes{0, 1, 63, 64, 1023, 1024, 1025, 5000};
const std::vector<std::size_t> kLargeSizes{38911, 38912, 38913, 100003, 1048577, 3000001};

class VleDecodeParity : public DeviceTest {
 protected:
  static void expect_same(const Case& test, std::size_t size, int alignment) {
    SCOPED_TRACE(std::string(test.name) + ", " + std::to_string(size) + " symbols at alignment " +
                 std::to_string(alignment));
    const Bytes input = input_for(test, size, static_cast<unsigned>(size + 1));
    const IndexedStream expected = encode_bit_by_bit(test.table, input);
    IndexedStream stream = encode_with_index(test.table, input, alignment);
    EXPECT_EQ(stream.result.bits, expected.result.bits);
    EXPECT_EQ(stream.result.missing, 0u);
    ASSERT_TRUE(stream.bytes == expected.bytes);
    ASSERT_TRUE(stream.index == expected.index);
    for (const bool with_index : {true, false}) {
      if (!with_index) stream.index.clear();
      const Decoded decoded = decode_on_device(test.table, stream, size, alignment);
      EXPECT_EQ(decoded.result.corrupt, 0u) << (with_index ? "with index" : "without index");
      EXPECT_EQ(decoded.result.symbols, size);
      EXPECT_FALSE(decoded.wrote_outside);
      ASSERT_TRUE(decoded.output == input) << (with_index ? "with index" : "without index");
    }
  }

  static void expect_corrupt(const vle::CodeTable& table, IndexedStream stream, std::size_t size,
                             const char* what) {
    for (const bool with_index : {true, false}) {
      if (!with_index) stream.index.clear();
      const Decoded decoded = decode_on_device(table, stream, size, 0);
      EXPECT_NE(decoded.result.corrupt, 0u) << what << (with_index ? ", with index" : ", without index");
      EXPECT_FALSE(decoded.wrote_outside) << what;
    }
  }
};

// A few small inputs, for compute-sanitizer too.
TEST_F(VleDecodeParity, SmallRoundTrips) {
  for (const Case& test : cases()) {
    for (const std::size_t size : kSmallSizes) {
      expect_same(test, size, static_cast<int>(size % 7));
      if (HasFailure()) return;
    }
  }
}

TEST_F(VleDecodeParity, RoundTrips) {
  for (const Case& test : cases()) {
    for (const std::size_t size : kLargeSizes) {
      for (const int alignment : {0, 1, 4, 15}) {
        expect_same(test, size, alignment);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(VleDecodeParity, CorruptStreamsAreReported) {
  const Case text = cases()[2];
  const Bytes input = input_for(text, 50000, 1);
  const IndexedStream good = encode_bit_by_bit(text.table, input);
  expect_corrupt(text.table, good, input.size() - 1, "a symbol too many");
  expect_corrupt(text.table, good, input.size() + 1, "a symbol too few");
  expect_corrupt(text.table, good, 0, "no symbols");

  IndexedStream bad = good;
  bad.result.bits -= 1;
  expect_corrupt(text.table, bad, input.size(), "a bit too few");
  bad = good;
  bad.result.bits += 3;
  expect_corrupt(text.table, bad, input.size(), "bits too many");
  bad = good;
  bad.bytes.resize(bad.bytes.size() / 2 / 4 * 4);
  expect_corrupt(text.table, bad, input.size(), "half the stream");
  bad = good;
  bad.bytes.clear();
  expect_corrupt(text.table, bad, input.size(), "no stream");
  bad = good;
  bad.bytes.assign(bad.bytes.size(), 0xff);  // longer codes than the input had
  expect_corrupt(text.table, bad, input.size(), "ones");

  vle::CodeTable long_codes = text.table;
  long_codes.length[3] = 17;
  expect_corrupt(long_codes, good, input.size(), "a code of 17 bits");
  vle::CodeTable wide = text.table;
  wide.code[3] = 0x10;  // a code of 4 bits
  expect_corrupt(wide, good, input.size(), "a code wider than its length");
  expect_corrupt(vle::CodeTable{}, good, input.size(), "no codes");

  for (std::size_t i = 0; i < good.index.size(); ++i) {
    bad = good;
    bad.index[i] += 1;
    EXPECT_NE(decode_on_device(text.table, bad, input.size(), 0).result.corrupt, 0u) << "index " << i;
  }
}

// Any bytes at all: the decoder must touch no memory outside its own.
TEST_F(VleDecodeParity, Garbage) {
  std::mt19937 random(9);
  const Case text = cases()[2];
  const Bytes input = input_for(text, 20000, 2);
  const IndexedStream good = encode_bit_by_bit(text.table, input);
  const bool quick = std::getenv("CU264_TEST_QUICK") != nullptr;
  for (int run = 0; run < (quick ? 12 : 200); ++run) {
    IndexedStream bad = good;
    vle::CodeTable table = text.table;
    if (run % 2 == 0) {
      for (auto& byte : bad.bytes) byte = static_cast<std::uint8_t>(random());
    }
    if (run % 3 == 0) {
      for (auto& position : bad.index) {
        if (random() % 2 == 0) position = std::uint64_t{random()} << random() % 33;
      }
    }
    if (run % 5 == 0) {
      for (int i = 0; i < vle::kSymbols; ++i) {
        table.length[i] = static_cast<std::uint8_t>(random() % 18);
        table.code[i] = random() >> random() % 32;
      }
    }
    if (run % 7 == 0) bad.result.bits = std::uint64_t{random()} << random() % 33;
    if (run % 4 == 3) bad.index.clear();
    const Decoded decoded = decode_on_device(table, bad, input.size(), run % 16);
    ASSERT_FALSE(decoded.wrote_outside) << "run " << run;
    if (decoded.result.corrupt == 0) {
      // A stream that is accepted must be the code of the output.
      const IndexedStream again = encode_bit_by_bit(table, decoded.output);
      EXPECT_EQ(again.result.bits, bad.result.bits) << "run " << run;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
