// The numbers of a block's items that the kernels compute without making them, against the items.
#include "core/cabac_block.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"

namespace {

using namespace cu264::core;

// Levels of magnitude 0 to 3, `zeros` of 16 zero; those from `count` on are zero.
std::array<std::int16_t, 64> random_levels(std::mt19937& random, int count, unsigned zeros) {
  std::array<std::int16_t, 64> levels{};
  for (int k = 0; k < count; ++k) {
    if (random() % 16 < zeros) continue;
    levels[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(static_cast<int>(random() % 7) - 3);
  }
  return levels;
}

TEST(CabacBlock, FlagsAreCountedFromMasks) {
  std::mt19937 random(264);
  for (const BlockCategory category :
       {BlockCategory::luma_4x4, BlockCategory::luma_ac, BlockCategory::chroma_dc}) {
    const int most = max_num_coeff(category);
    for (int trial = 0; trial < 2000; ++trial) {
      const std::array<std::int16_t, 64> levels = random_levels(random, most, random() % 16);
      std::uint32_t nonzero = 0;
      int count = 0, magnitudes = 0;
      for (int k = 0; k < most; ++k) {
        const int level = levels[static_cast<std::size_t>(k)];
        if (level == 0) continue;
        nonzero |= 1u << k;
        ++count, magnitudes += level < 0 ? -level : level;
      }
      if (nonzero == 0) continue;
      CabacItemCounter counter;
      put_cabac_levels(counter, levels, nonzero, category);
      // A level of magnitude m takes m decisions, the last of which has its sign.
      const int flags = significance_flags(highest_bit(nonzero), count, most - 1);
      ASSERT_EQ(counter.items, static_cast<std::uint32_t>(flags + magnitudes)) << nonzero;
      ASSERT_EQ(counter.bins, static_cast<std::uint32_t>(flags + magnitudes + count)) << nonzero;
    }
  }
}

TEST(CabacBlock, MasksOfInterleavedBlocksMakeThatOfTheirs) {
  for (int block = 0; block < 4; ++block) {
    for (int level = 0; level < 16; ++level) {
      EXPECT_EQ(interleaved_mask(1u << level, block), std::uint64_t{1} << (4 * level + block));
    }
    EXPECT_EQ(interleaved_mask(0xffff, block), std::uint64_t{0x1111111111111111} << block);
  }
}

}  // namespace
