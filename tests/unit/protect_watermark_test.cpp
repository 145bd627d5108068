// Marks in trailing ones: counting reads the bit back, and a mark does not change which blocks can carry one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "core/cavlc_block.h"
#include "cu264/protect.h"
#include "protect/payload.h"
#include "protect/watermark.h"

namespace cu264::protect {
namespace {

// Trailing ones by the definition of 9.2, level by level.
int count_trailing_ones(const std::int16_t* levels, int max_num_coeff) {
  int ones = 0;
  for (int k = max_num_coeff - 1; k >= 0 && ones < 3; --k) {
    if (levels[k] == 0) continue;
    if (std::abs(levels[k]) != 1) break;
    ++ones;
  }
  return ones;
}

void random_levels(std::mt19937& random, std::int16_t* levels, int max_num_coeff) {
  const int range = random() % 4 == 0 ? 40 : 1 + static_cast<int>(random() % 3);
  const int zeros = static_cast<int>(random() % 16);
  for (int k = 0; k < 16; ++k) levels[k] = 0;
  for (int k = 0; k < max_num_coeff; ++k) {
    if (static_cast<int>(random() % 16) < zeros) continue;
    levels[k] =
        static_cast<std::int16_t>(static_cast<int>(random() % static_cast<unsigned>(2 * range + 1)) - range);
  }
}

TEST(ProtectWatermark, Parity) {
  std::mt19937 random(5);
  int marked = 0;
  for (int i = 0; i < 200000; ++i) {
    const int max_num_coeff = i % 2 == 0 ? 16 : 15, bit = static_cast<int>(random() & 1);
    std::int16_t before[16], after[16];
    random_levels(random, before, max_num_coeff);
    std::copy(before, before + 16, after);
    const core::CavlcSymbols symbols = core::cavlc_symbols(before, max_num_coeff);
    if (symbols.total_coeff == 0) continue;
    const bool changed = mark_levels(after, max_num_coeff, true, bit);
    ASSERT_EQ(changed, !std::equal(before, before + 16, after));
    ASSERT_EQ(count_trailing_ones(after, max_num_coeff) & 1, bit);
    ASSERT_GT(core::cavlc_symbols(after, max_num_coeff).total_coeff, 0);
    ASSERT_EQ(max_num_coeff == 15 ? after[15] : 0, 0);
    // One level changes by one, unless the highest frequency holds a large one.
    int distance = 0;
    for (int k = 0; k < 16; ++k) distance += std::abs(after[k] - before[k]);
    if (std::abs(before[max_num_coeff - 1]) <= 1) {
      ASSERT_LE(distance, 1);
    }
    ++marked;
  }
  EXPECT_GT(marked, 100000);
}

TEST(ProtectWatermark, Sign) {
  std::mt19937 random(6);
  for (int i = 0; i < 100000; ++i) {
    std::int16_t levels[16];
    random_levels(random, levels, 16);
    const core::CavlcSymbols before = core::cavlc_symbols(levels, 16);
    const int bit = i & 1;
    const bool changed = mark_levels(levels, 16, false, bit);
    if (count_trailing_ones(levels, 16) == 0) {
      ASSERT_FALSE(changed);
      continue;
    }
    const core::CavlcSymbols after = core::cavlc_symbols(levels, 16);
    ASSERT_EQ(after.nonzero, before.nonzero);
    ASSERT_EQ(after.levels, before.levels);
    int first = 15;
    while (levels[first] == 0) --first;
    ASSERT_EQ(levels[first] < 0, bit != 0);
  }
}

TEST(ProtectWatermark, EveryBitOfTheFrameIsReached) {
  std::mt19937 random(8);
  const auto draw = [&] { return static_cast<std::uint32_t>(random()); };
  std::vector<int> hits(8 * 13), chosen(16), flipped(16);
  for (int i = 0; i < 20000; ++i) {
    const MarkKey key = {{{draw(), draw(), draw(), draw()}}, {{draw(), draw(), draw(), draw()}}};
    const Bytes zeros(13);
    const std::uint32_t marks = marks_of_macroblock(key, 16384, zeros.data(), 13);
    for (int block = 0; block < 16; ++block) {
      const std::uint32_t index = mark_index(key.draw.words[0], block, 13);
      ASSERT_LT(index, hits.size());
      if (block > 0) {
        ASSERT_EQ(index, (mark_index(key.draw.words[0], block - 1, 13) + 1) % 104);
      }
      ++hits[index];
      ASSERT_EQ(is_marked(marks, block), mark_chooses(key, block, 16384));
      chosen[static_cast<std::size_t>(block)] += is_marked(marks, block);
      flipped[static_cast<std::size_t>(block)] += marked_bit(marks, block);
      ASSERT_TRUE(mark_chooses(key, block, 65536));
    }
  }
  for (const int count : hits) EXPECT_NEAR(count, 320000 / 104, 300);
  for (const int count : chosen) EXPECT_NEAR(count, 5000, 300);
  for (const int count : flipped) EXPECT_NEAR(count, 2500, 250);
}

// The choice for all blocks at once is that for each block, at all kinds of densities.
TEST(ProtectWatermark, MarksOfAllBlocks) {
  std::mt19937 random(9);
  const auto draw = [&] { return static_cast<std::uint32_t>(random()); };
  int without = 0;
  for (int i = 0; i < 100000; ++i) {
    MarkKey key = {{{draw(), draw(), draw(), draw()}}, {{draw(), draw(), draw(), draw()}}};
    const std::uint32_t densities[] = {1 + draw() % 65536, 256 * (1 + draw() % 256), 1 + draw() % 1024,
                                       65536};
    const std::uint32_t density = densities[i % 4];
    if (i % 3 == 0) key.choice.words[draw() % 4] = (density >> 8 & 255) * 0x01010101u;
    Bytes frame(5 + draw() % 40);
    for (std::uint8_t& byte : frame) byte = static_cast<std::uint8_t>(draw());
    const auto bytes = static_cast<std::uint32_t>(frame.size());
    const std::uint32_t marks = marks_of_macroblock(key, density, frame.data(), bytes);
    for (int block = 0; block < 16; ++block) {
      ASSERT_EQ(is_marked(marks, block), mark_chooses(key, block, density)) << density;
      const int bit =
          frame_bit(frame.data(), mark_index(key.draw.words[0], block, bytes)) ^ mark_flip(key, block);
      ASSERT_EQ(marked_bit(marks, block), is_marked(marks, block) ? bit : 0);
    }
    const bool may = may_have_marks(key.choice, density);
    ASSERT_TRUE(may || marks == 0);
    without += !may;
  }
  EXPECT_GT(without, 1000);
}

// The smallest density chooses one block in 65536, which needs both bytes.
TEST(ProtectWatermark, DensityIsExact) {
  int chosen = 0;
  for (std::uint32_t high = 0; high < 256; ++high) {
    for (std::uint32_t low = 0; low < 256; ++low) {
      MarkKey key{};
      key.choice.words[3] = high << 24;
      key.draw.words[2] = low;
      ASSERT_EQ(mark_chooses(key, 15, 1000), (high << 8 | low) < 1000);
      chosen += mark_chooses(key, 15, 1);
    }
  }
  EXPECT_EQ(chosen, 1);
}

TEST(ProtectPayload, Frame) {
  const std::string text = "123456789";
  const ByteSpan bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  EXPECT_EQ(crc32(bytes), 0xcbf43926u);
  const Bytes frame = frame_of(bytes);
  EXPECT_EQ(read_frame_header(frame).length, 9u);
  EXPECT_EQ(read_frame_header(frame).crc, 0xcbf43926u);
  EXPECT_EQ(mark_frame_of(bytes), Bytes(frame.begin() + 4, frame.end()));
  EXPECT_THROW(frame_of({}), Error);
}

}  // namespace
}  // namespace cu264::protect
