// Every variable-length encoder on the GPU agrees with a bit-by-bit encoder written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "entropy/vle/fast.h"
#include "entropy/vle/published/published_encoders.h"
#include "tests/parity/device_test.h"
#include "tests/parity/vle_device.h"

namespace cu264::parity {
namespace {

struct Expected {
  Bytes stream;
  std::uint64_t bits = 0;
};

Expected encode_bit_by_bit(const vle::CodeTable& table, const Bytes& input) {
  Expected expected;
  for (const std::uint8_t symbol : input) {
    for (int bit = table.length[symbol] - 1; bit >= 0; --bit) {
      if (expected.bits % 8 == 0) expected.stream.push_back(0);
      if ((table.code[symbol] >> bit & 1) != 0) expected.stream.back() |= 0x80 >> expected.bits % 8;
      ++expected.bits;
    }
  }
  return expected;
}

// Codes of the given lengths, in the order of the symbols. Only the lengths matter here.
vle::CodeTable table_of(const std::vector<int>& lengths, unsigned seed) {
  vle::CodeTable table;
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    table.length[i] = static_cast<std::uint8_t>(lengths[i]);
    const std::uint64_t mask = (std::uint64_t{1} << lengths[i]) - 1;
    table.code[i] = static_cast<std::uint32_t>(((random() & ~1u) | (i & 1)) & mask);
  }
  return table;
}

struct NamedTable {
  const char* name;
  int symbols;  // symbols 0 .. symbols - 1 have codes
  int longest;
  vle::CodeTable table;
};

std::vector<NamedTable> tables() {
  const auto fibonacci = [](int longest) {
    std::vector<int> lengths;
    for (int length = 1; length < longest; ++length) lengths.push_back(length);
    lengths.insert(lengths.end(), 2, longest);
    return lengths;
  };
  const std::vector<int> text{3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 13};
  std::vector<int> every;
  for (int i = 0; i < 256; ++i) every.push_back(1 + i % 16);
  return {{"one bit", 1, 1, table_of({1}, 1)},
          {"two symbols", 2, 1, table_of({1, 1}, 2)},
          {"text", static_cast<int>(text.size()), 13, table_of(text, 3)},
          {"256 of 8 bits", 256, 8, table_of(std::vector<int>(256, 8), 4)},
          {"256 of 16 bits", 256, 16, table_of(std::vector<int>(256, 16), 5)},
          {"1 to 16 bits", 256, 16, table_of(every, 6)},
          {"Fibonacci, 8 bits", 9, 8, table_of(fibonacci(8), 10)},
          {"Fibonacci, 16 bits", 17, 16, table_of(fibonacci(16), 7)},
          {"Fibonacci, 32 bits", 33, 32, table_of(fibonacci(32), 8)},
          {"256 of 32 bits", 256, 32, table_of(std::vector<int>(256, 32), 9)}};
}

Bytes random_input(std::size_t size, int symbols, unsigned seed) {
  std::mt19937 random(seed);
  Bytes input(size);
  for (auto& symbol : input) symbol = static_cast<std::uint8_t>(random() % static_cast<unsigned>(symbols));
  return input;
}

std::vector<AnyEncoder> main_encoders() {
  std::vector<AnyEncoder> encoders;
  for (const vle::DeviceEncoder& encoder : vle::device_encoders()) encoders.push_back(encoder);
  return encoders;
}

std::vector<AnyEncoder> all_encoders() {
  std::vector<AnyEncoder> encoders = main_encoders();
  for (const auto& encoder : vle::pavle_variants()) encoders.emplace_back(encoder, encoder.threads);
  for (const auto& encoder : vle::cuvle_variants()) encoders.emplace_back(encoder, encoder.threads);
  return encoders;
}

// The fast encoder as it runs where a block can have only so much shared memory.
template <int kKiB>
vle::DeviceEncoder fast_within() {
  static const std::string name = "fast within " + std::to_string(kKiB) + " KiB";
  return {name.c_str(), vle::kShortCode,
          [](std::size_t size) { return vle::fast_scratch_bytes(size, kKiB * 1024); },
          [](const vle::EncodeCall& call) { vle::fast_encode(call, nullptr, kKiB * 1024); }};
}

// Compute capabilities 7.5: 64 KiB; 8.6, 8.9 and 12.0: 99; 8.0: 163; 9.0 and 10.0: 227. 48 has every one.
std::vector<AnyEncoder> fast_encoders_by_shared_memory() {
  return {fast_within<48>(), fast_within<64>(),  fast_within<96>(),
          fast_within<99>(), fast_within<163>(), fast_within<227>()};
}

class VleParity : public DeviceTest {
 protected:
  static std::size_t room_for(const Expected& expected) { return (expected.stream.size() + 3) / 4 * 4; }

  // Runs every encoder that accepts the table on one input.
  static void expect_same(const std::vector<AnyEncoder>& encoders, const NamedTable& table,
                          const Bytes& input, int alignment, int runs = 1) {
    const Expected expected = encode_bit_by_bit(table.table, input);
    for (const AnyEncoder& encoder : encoders) {
      if (table.longest > encoder.longest_code()) continue;
      for (int run = 0; run < runs; ++run) {
        const Encoded encoded = encode_on_device(encoder, table.table, input, alignment, room_for(expected));
        SCOPED_TRACE(encoder.name() + ", table " + table.name + ", " + std::to_string(input.size()) +
                     " symbols at alignment " + std::to_string(alignment) + ", run " + std::to_string(run));
        EXPECT_EQ(encoded.result.missing, 0u);
        EXPECT_EQ(encoded.result.bits, expected.bits);
        EXPECT_FALSE(encoded.wrote_past_output);
        const auto difference = std::mismatch(expected.stream.begin(), expected.stream.end(),
                                              encoded.stream.begin(), encoded.stream.end());
        ASSERT_TRUE(difference.first == expected.stream.end())
            << "byte " << difference.first - expected.stream.begin() << " of " << expected.stream.size();
      }
    }
  }
};

// PAVLE's kernels and CUVLE's NETs on a few small inputs.
TEST_F(VleParity, SmallInputsOfVariants) {
  std::vector<AnyEncoder> variants;
  for (const auto& encoder : vle::pavle_variants()) variants.emplace_back(encoder, encoder.threads);
  for (const auto& encoder : vle::cuvle_variants()) variants.emplace_back(encoder, encoder.threads);
  for (const NamedTable& table : tables()) {
    for (const std::size_t size : {0, 1, 34, 5000}) {
      expect_same(variants, table, random_input(size, table.symbols, 12), static_cast<int>(size % 5));
      if (HasFailure()) return;
    }
  }
}

// A few small inputs, for compute-sanitizer too.
TEST_F(VleParity, SmallInputs) {
  for (const NamedTable& table : tables()) {
    for (const std::size_t size : {0, 1, 33, 5000}) {
      expect_same(main_encoders(), table, random_input(size, table.symbols, 1), static_cast<int>(size % 7));
      if (HasFailure()) return;
    }
  }
}

TEST_F(VleParity, SizesAndAlignments) {
  for (const NamedTable& table : tables()) {
    for (const std::size_t size : {2, 3, 4, 5, 15, 31, 32, 63, 64, 65, 1023, 4096, 4097, 100003}) {
      for (const int alignment : {0, 1, 31}) {
        expect_same(all_encoders(), table, random_input(size, table.symbols, 2), alignment);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(VleParity, ThreadBlocks) {
  std::vector<AnyEncoder> encoders;
  for (const vle::PublishedEncoder* encoder : vle::published_encoders()) {
    for (const int threads : {32, 64, 96, 256, 512, 736, 1024})
      if (threads <= encoder->most_threads) encoders.emplace_back(*encoder, threads);
  }
  for (const NamedTable& table : tables()) {
    expect_same(encoders, table, random_input(300001, table.symbols, 3), 5);
    if (HasFailure()) return;
  }
}

// Many blocks of input, several times: a race shows as a difference between runs.
TEST_F(VleParity, ManyBlocks) {
  for (const NamedTable& table : tables()) {
    expect_same(all_encoders(), table, random_input((4u << 20) + 77, table.symbols, 4), 3, 3);
    if (HasFailure()) return;
  }
}

// The kernels and tile sizes of GPUs with less shared memory than this one.
TEST_F(VleParity, SharedMemoryOfOtherGpus) {
  std::set<std::size_t> scratch_bytes;
  const auto encoders = fast_encoders_by_shared_memory();
  for (const AnyEncoder& encoder : encoders) scratch_bytes.insert(encoder.device.scratch_bytes(1u << 30));
  EXPECT_GE(scratch_bytes.size(), 2u) << "all ran alike";
  for (const NamedTable& table : tables()) {
    for (const std::size_t size : {0, 1, 63, 64, 2047, 2048, 2049, 70003}) {
      for (const int alignment : {0, 4, 9}) {
        expect_same(encoders, table, random_input(size, table.symbols, 9), alignment);
        if (HasFailure()) return;
      }
    }
    expect_same(encoders, table, random_input((1u << 20) + 77, table.symbols, 10), 0, 2);
    if (HasFailure()) return;
  }
}

TEST_F(VleParity, OutputTooSmall) {
  for (const NamedTable& table : tables()) {
    const Bytes input = random_input(70001, table.symbols, 5);
    const Expected expected = encode_bit_by_bit(table.table, input);
    for (const AnyEncoder& encoder : all_encoders()) {
      if (table.longest > encoder.longest_code()) continue;
      for (const std::size_t room :
           {std::size_t{0}, std::size_t{4}, expected.stream.size() / 8 * 4, room_for(expected) - 4}) {
        const Encoded encoded = encode_on_device(encoder, table.table, input, 0, room);
        EXPECT_EQ(encoded.result.bits, expected.bits) << encoder.name() << ", " << table.name << ", " << room;
        EXPECT_EQ(encoded.result.missing, 0u);
        ASSERT_FALSE(encoded.wrote_past_output) << encoder.name() << ", " << table.name << ", " << room;
      }
    }
  }
}

TEST_F(VleParity, SymbolWithoutCode) {
  for (const AnyEncoder& encoder : all_encoders()) {
    for (const NamedTable& table : tables()) {
      if (table.longest > encoder.longest_code() || table.symbols == 256) continue;
      for (const std::size_t size : {1, 40, 20000}) {
        for (const std::size_t place : {std::size_t{0}, size / 2, size - 1}) {
          Bytes input = random_input(size, table.symbols, 6);
          input[place] = static_cast<std::uint8_t>(table.symbols + place % (256 - table.symbols));
          const Encoded encoded = encode_on_device(encoder, table.table, input, 9, size * 4);
          EXPECT_NE(encoded.result.missing, 0u)
              << encoder.name() << ", " << table.name << ", " << size << ", symbol " << place;
          ASSERT_FALSE(encoded.wrote_past_output) << encoder.name() << ", " << table.name;
        }
      }
      Bytes input(20000, 255);  // a single symbol
      EXPECT_NE(encode_on_device(encoder, table.table, input, 0, 4).result.missing, 0u) << encoder.name();
    }
  }
}

// sm32 and gm32 take 32 bits for the codes of four symbols. What is longer is reported, and stays in its
// buffer.
TEST_F(VleParity, AggregatesThatAreTooLong) {
  const auto all = tables();
  const auto table = std::find_if(
      all.begin(), all.end(), [](const NamedTable& t) { return t.name == std::string("256 of 16 bits"); });
  int encoders = 0;
  for (const vle::PublishedEncoder& encoder : vle::pavle_variants()) {
    if (encoder.longest_code >= table->longest) continue;
    ++encoders;
    for (const std::size_t size : {3, 4, 5000}) {
      const Encoded encoded =
          encode_on_device({encoder, encoder.threads}, table->table, random_input(size, table->symbols, 11),
                           0, 2 * size / 4 * 4 + 4);
      EXPECT_NE(encoded.result.missing, 0u) << encoder.name << ", " << size;
      EXPECT_FALSE(encoded.wrote_past_output) << encoder.name << ", " << size;
    }
  }
  EXPECT_GT(encoders, 0);
}

// Bit positions beyond 2^32, and an input beyond 4 GiB.
TEST_F(VleParity, LargeInputs) {
  const auto all = tables();
  const auto check = [&](const AnyEncoder& encoder, const char* name, std::uint64_t input_bytes) {
    const auto table =
        std::find_if(all.begin(), all.end(), [&](const auto& t) { return name == std::string(t.name); });
    // The coded period takes whole bytes, and is not a power of two.
    const Bytes part = random_input(12345, table->symbols, 7);
    Bytes period;
    for (int i = 0; i < 8; ++i) period.insert(period.end(), part.begin(), part.end());
    const Expected expected = encode_bit_by_bit(table->table, period);
    ASSERT_EQ(expected.bits % 8, 0u);
    const std::string difference = check_repeated(encoder, table->table, period, expected.stream,
                                                  static_cast<std::size_t>(input_bytes / period.size() + 1));
    if (difference == "memory")
      std::printf("left out, too little memory: %s, %s\n", encoder.name().c_str(), name);
    else
      EXPECT_EQ(difference, "");
  };
  for (const vle::DeviceEncoder& encoder : vle::device_encoders()) {
    check(encoder, "256 of 16 bits", 600u << 20);  // 1200 MiB of output
    check(encoder, "text", 2000u << 20);           // about 1700 MiB of output
    check(encoder, "two symbols", 4200ull << 20);  // input beyond 4 GiB
  }
}

TEST_F(VleParity, Histogram) {
  for (const int symbols : {1, 2, 64, 256}) {
    for (const std::size_t size : {0, 1, 2, 15, 16, 17, 31, 1000, 65537, 5000001}) {
      for (const int alignment : {0, 1, 15}) {
        const Bytes input = random_input(size, symbols, 8);
        std::array<std::uint64_t, 256> expected{};
        for (const std::uint8_t symbol : input) ++expected[symbol];
        EXPECT_EQ(histogram_on_device(input, alignment), expected)
            << symbols << " symbols, " << size << " bytes at alignment " << alignment;
      }
    }
  }
}

}  // namespace
}  // namespace cu264::parity
