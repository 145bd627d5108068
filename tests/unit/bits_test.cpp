// The bit writer, counter and reader agree with strings of '0' and '1'.

#include "core/bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bit_string.h"

namespace {

using namespace cu264::core;
using namespace cu264::test;

std::uint32_t random_bits(std::mt19937& random, int length) {
  const std::uint32_t fill[4] = {0, ~0u, static_cast<std::uint32_t>(random()),
                                 static_cast<std::uint32_t>(random())};
  return static_cast<std::uint32_t>(fill[random() % 4] & ((std::uint64_t{1} << length) - 1));
}

TEST(BitWriter, StoresWhatAStringWould) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint8_t> bytes(2000, 0xa5);
    BitWriter writer(bytes.data(), bytes.size());
    BitCounter counter;
    std::string expected;
    const int puts = static_cast<int>(random() % 400);
    for (int i = 0; i < puts; ++i) {
      const int length = static_cast<int>(random() % 33);
      const std::uint32_t value = random_bits(random, length);
      writer.put(value, length);
      counter.put(value, length);
      expected += binary(value, length);
      ASSERT_EQ(writer.bit_position(), expected.size());
      ASSERT_EQ(counter.bits, expected.size());
      ASSERT_EQ(writer.aligned(), expected.size() % 8 == 0);
    }
    writer.align_with_zeros();
    ASSERT_TRUE(writer.aligned());
    ASSERT_FALSE(writer.overflowed());
    const std::vector<std::uint8_t> expected_bytes = bytes_of(expected);
    ASSERT_EQ(writer.size(), expected_bytes.size());
    ASSERT_EQ(bytes[writer.size()], 0xa5) << "wrote past its own end";
    bytes.resize(writer.size());
    ASSERT_EQ(bytes, expected_bytes) << "round " << round;
  }
}

TEST(BitWriter, NeverLeavesItsMemory) {
  for (std::size_t capacity = 0; capacity <= 12; ++capacity) {
    for (std::size_t puts = 0; puts <= 24; ++puts) {
      std::vector<std::uint8_t> bytes(16, 0xa5);
      BitWriter writer(bytes.data(), capacity);
      for (std::size_t i = 0; i < puts; ++i) writer.put(0, 8);
      writer.align_with_zeros();
      EXPECT_EQ(writer.overflowed(), puts > capacity) << puts << " bytes into " << capacity;
      EXPECT_EQ(writer.size(), std::min(puts, capacity));
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        ASSERT_EQ(bytes[i], i < std::min(puts, capacity) ? 0 : 0xa5) << "byte " << i << " of " << capacity;
      }
    }
  }
}

TEST(BitWriter, TrailingBitsAreAOneAndZeros) {
  for (int before = 0; before < 8; ++before) {
    std::uint8_t bytes[4] = {};
    BitWriter writer(bytes, sizeof bytes);
    writer.put(0, before);
    put_trailing_bits(writer);
    ASSERT_EQ(writer.size(), 1u) << before << " bits before";
    EXPECT_EQ(bytes[0], 0x80 >> before) << before << " bits before";
  }
}

TEST(BitReader, ReadsWhatTheStringSays) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint8_t> bytes(random() % 64);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_bits(random, 8));
    const std::string text = text_of(bytes);
    BitReader reader(bytes.data(), bytes.size());
    std::size_t position = 0;
    while (position < text.size()) {
      const int length = static_cast<int>(random() % 33);
      // Past the end the reader yields zeros.
      std::string expected = text.substr(position, static_cast<std::size_t>(length));
      expected.resize(static_cast<std::size_t>(length), '0');
      ASSERT_EQ(reader.peek(length), value_of(expected)) << "bit " << position << " of " << text.size();
      ASSERT_EQ(reader.get(length), value_of(expected));
      position += static_cast<std::size_t>(length);
      ASSERT_EQ(reader.failed(), position > text.size());
      ASSERT_EQ(reader.bit_position(), std::min(position, text.size()));
      ASSERT_EQ(reader.bits_left(), text.size() - std::min(position, text.size()));
    }
    reader.skip(32);
    EXPECT_TRUE(reader.failed());
    EXPECT_EQ(reader.get(32), 0u);
  }
}

std::vector<std::uint32_t> interesting_code_nums() {
  std::vector<std::uint32_t> values;
  for (std::uint32_t v = 0; v < 300; ++v) values.push_back(v);
  for (int bit = 8; bit < 32; ++bit) {
    for (int offset = -2; offset <= 1; ++offset) {
      values.push_back((std::uint32_t{1} << bit) + static_cast<std::uint32_t>(offset));
    }
  }
  values.push_back(std::numeric_limits<std::uint32_t>::max() - 1);
  return values;
}

TEST(ExpGolomb, UnsignedCodesAndLengths) {
  for (const std::uint32_t value : interesting_code_nums()) {
    StringSink sink;
    put_ue(sink, value);
    EXPECT_EQ(sink.bits, ue_text(value)) << "ue(" << value << ')';
    EXPECT_EQ(ue_length(value), static_cast<int>(sink.bits.size())) << "ue(" << value << ')';
  }
}

TEST(ExpGolomb, SignedCodesAndLengths) {
  for (const std::uint32_t magnitude : interesting_code_nums()) {
    if (magnitude > 0x7ffffffe) continue;
    for (const int sign : {1, -1}) {
      const std::int32_t value = sign * static_cast<std::int32_t>(magnitude);
      StringSink sink;
      put_se(sink, value);
      EXPECT_EQ(sink.bits, se_text(value)) << "se(" << value << ')';
      EXPECT_EQ(se_length(value), static_cast<int>(sink.bits.size())) << "se(" << value << ')';
    }
  }
}

TEST(ExpGolomb, FirstCodesAreTheStandards) {  // tables 9-2 and 9-3
  EXPECT_EQ(ue_text(0), "1");
  EXPECT_EQ(ue_text(1), "010");
  EXPECT_EQ(ue_text(2), "011");
  EXPECT_EQ(ue_text(3), "00100");
  EXPECT_EQ(ue_text(8), "0001001");
  EXPECT_EQ(se_text(1), "010");
  EXPECT_EQ(se_text(-1), "011");
  EXPECT_EQ(se_text(2), "00100");
}

}  // namespace
