// The code that spreads an encoder's watermark: about as many coded bits as the frame has give it back,
// whichever they are, and wrong ones are outvoted.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "protect/mark_capacity.h"
#include "protect/mark_code.h"

namespace cu264::protect {
namespace {

Bytes random_frame(std::mt19937& random, std::uint32_t bytes) {
  Bytes frame(bytes);
  for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(random());
  return frame;
}

int bit_of(const Bytes& bytes, std::size_t index) {
  return bytes[index / 8] >> (7 - index % 8) & 1;
}

constexpr std::uint32_t kSizes[] = {1, 5, 6, 63, 64, 65, 129, 200, 1000};

TEST(ProtectMarkCode, FewMoreBitsThanTheFrameHasSuffice) {
  std::mt19937 random(1);
  for (const std::uint32_t bytes : kSizes) {
    const MarkCode code(bytes);
    const Bytes frame = random_frame(random, bytes), coded = code.encode(frame);
    ASSERT_EQ(8 * coded.size(), code.coded_bits());
    std::uint32_t bits = 0;
    for (std::uint32_t group = 0; group < code.groups(); ++group) bits += code.bits(group);
    ASSERT_EQ(bits, 8 * bytes);
    // From each group only as many bits are taken as it needs and 16 more, or one too few.
    for (const int more : {16, -1}) {
      std::vector<std::int32_t> votes(code.coded_bits());
      std::vector<bool> seen(code.coded_bits());
      for (std::uint32_t group = 0; group < code.groups(); ++group) {
        std::vector<std::uint32_t> numbers(code.coded_bits_of_group());
        std::iota(numbers.begin(), numbers.end(), 0u);
        std::shuffle(numbers.begin(), numbers.end(), random);
        numbers.resize(
            std::min(numbers.size(), static_cast<std::size_t>(static_cast<int>(code.bits(group)) + more)));
        for (const std::uint32_t number : numbers) {
          const std::size_t index = std::size_t{number} * code.groups() + group;
          votes[index] = bit_of(coded, index) != 0 ? 1 : -1;
          seen[index] = true;
        }
        EXPECT_EQ(code.determines(group, seen), more > 0) << bytes << " bytes, group " << group;
      }
      const std::optional<Bytes> found = code.decode(votes);
      ASSERT_EQ(found.has_value(), more > 0) << bytes << " bytes";
      if (found) {
        EXPECT_EQ(*found, frame);
      }
    }
  }
}

// The surest bits decide: many wrong ones of a single vote do no harm beside enough that were seen often.
TEST(ProtectMarkCode, UncertainBitsDoNotDecide) {
  std::mt19937 random(2);
  for (const std::uint32_t bytes : kSizes) {
    const MarkCode code(bytes);
    const Bytes frame = random_frame(random, bytes), coded = code.encode(frame);
    std::vector<std::int32_t> votes(code.coded_bits());
    for (std::size_t i = 0; i < votes.size(); ++i) {
      const int right = bit_of(coded, i) != 0 ? 1 : -1;
      votes[i] = random() % 2 == 0 ? 3 * right : random() % 3 == 0 ? -right : right;
    }
    const std::optional<Bytes> found = code.decode(votes);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, frame) << bytes << " bytes";
  }
}

// Draws bits as marked macroblocks do, and counts how often a payload of the stated capacity can be read.
TEST(ProtectMarkCode, CapacityHolds) {
  std::mt19937 random(3);
  for (const std::uint32_t density : {4096u, 65536u}) {
    for (const std::uint32_t carriers : {400u, 1000u, 5000u}) {
      const auto bytes = static_cast<std::uint32_t>(mark_capacity(carriers, density, WatermarkSpread::coded));
      EXPECT_GT(bytes, 2 * mark_capacity(carriers, density, WatermarkSpread::drawn)) << carriers;
      EXPECT_LT(bytes, carriers / 8);
      ASSERT_GT(bytes, 0u);
      const MarkCode code(bytes + 4);
      int read = 0;
      constexpr int kTrials = 25;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<bool> seen(code.coded_bits());
        for (std::uint32_t carried = 0; carried < carriers;) {
          const std::uint64_t first = random() * code.coded_bits() >> 32;
          for (std::uint32_t block = 0; block < 16 && carried < carriers; ++block) {
            if (random() % 65536 >= density / 2) continue;  // half of the blocks can carry a bit
            seen[(first + block) % code.coded_bits()] = true;
            ++carried;
          }
        }
        bool all = true;
        for (std::uint32_t group = 0; group < code.groups(); ++group)
          all = all && code.determines(group, seen);
        read += all;
      }
      EXPECT_GE(read, kTrials - 2) << carriers << " carriers, " << bytes << " bytes, density " << density;
    }
  }
}

// The code is part of the format: marks of earlier versions must stay readable.
TEST(ProtectMarkCode, IsFixed) {
  const Bytes coded = MarkCode(5).encode(Bytes{0x12, 0x34, 0x56, 0x78, 0x9a});
  ASSERT_EQ(coded.size(), 20u);
  EXPECT_EQ(Bytes(coded.begin(), coded.begin() + 5), (Bytes{0x12, 0x34, 0x56, 0x78, 0x9a}));
  EXPECT_EQ(Bytes(coded.begin() + 5, coded.end()), (Bytes{0x18, 0x22, 0x82, 0x7e, 0x41, 0x71, 0x38, 0x2d,
                                                          0xce, 0x8e, 0x88, 0xb1, 0xca, 0xfd, 0x83}));
}

}  // namespace
}  // namespace cu264::protect
