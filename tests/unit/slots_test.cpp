// The slots of a macroblock: which are coded, and which counts predict theirs.
#include <gtest/gtest.h>

#include "core/mb_syntax.h"
#include "core/slot_neighbours.h"

namespace cu264 {
namespace {

using namespace core;

TEST(Slots, CodedSlotsAreThoseCodedOneByOne) {
  for (const MacroblockKind kind : {MacroblockKind::intra4x4, MacroblockKind::intra8x8,
                                    MacroblockKind::intra16x16, MacroblockKind::pcm}) {
    for (int pattern = 0; pattern < 48; ++pattern) {
      MacroblockRecord mb;
      mb.kind = kind;
      mb.coded_block_pattern = static_cast<std::uint8_t>(pattern);
      for (int slot = 0; slot < 32; ++slot) {
        const bool coded = slot < kBlocksPerMacroblock && slot_is_coded(mb, slot);
        EXPECT_EQ((coded_slots(mb) >> slot) & 1, coded)
            << "kind " << static_cast<int>(kind) << " pattern " << pattern << " slot " << slot;
      }
    }
  }
}

// With the blocks laid out in squares, a block's neighbours are one step to the left and one step up.
TEST(Slots, NeighboursLieOneStepAway) {
  for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) {
    if (slot == kSlotChromaDc || slot == kSlotChromaDc + 1) continue;
    const bool luma = slot < kSlotChromaDc;
    const int size = luma ? 4 : 2, first = luma ? kSlotLuma : slot < 23 ? 19 : 23;
    const int block = slot == kSlotLumaDc ? 0 : slot - first;
    const auto slot_at = [&](int x, int y) { return first + (luma ? luma_block_index(x, y) : 2 * y + x); };
    const int x = luma ? luma_block_x(block) : block & 1, y = luma ? luma_block_y(block) : block / 2;
    const SlotNeighbours n = slot_neighbours(slot);
    EXPECT_EQ(n.a_outside, x == 0) << slot;
    EXPECT_EQ(n.b_outside, y == 0) << slot;
    EXPECT_EQ(n.slot_a, slot_at((x + size - 1) % size, y)) << slot;
    EXPECT_EQ(n.slot_b, slot_at(x, (y + size - 1) % size)) << slot;
  }
}

TEST(Slots, NcOfEverySlotAndAvailability) {
  std::uint8_t here[32], left[32], above[32];
  for (int i = 0; i < 32; ++i) {
    here[i] = static_cast<std::uint8_t>(i % 17), left[i] = static_cast<std::uint8_t>((3 * i + 5) % 17);
    above[i] = static_cast<std::uint8_t>((5 * i + 9) % 17);
  }
  for (int slot = 0; slot < kBlocksPerMacroblock; ++slot) {
    const SlotNeighbours n = slot_neighbours(slot);
    const bool dc = slot == kSlotChromaDc || slot == kSlotChromaDc + 1;
    const int a = (n.a_outside ? left : here)[n.slot_a], b = (n.b_outside ? above : here)[n.slot_b];
    const int without_left = n.a_outside ? b : (a + b + 1) / 2,
              without_above = n.b_outside ? a : (a + b + 1) / 2;
    const int alone = n.a_outside && n.b_outside ? 0 : n.a_outside ? b : n.b_outside ? a : (a + b + 1) / 2;
    EXPECT_EQ(slot_nc(slot, n, here, left, above), dc ? -1 : (a + b + 1) / 2) << slot;
    EXPECT_EQ(slot_nc(slot, n, here, nullptr, above), dc ? -1 : without_left) << slot;
    EXPECT_EQ(slot_nc(slot, n, here, left, nullptr), dc ? -1 : without_above) << slot;
    EXPECT_EQ(slot_nc(slot, n, here, nullptr, nullptr), dc ? -1 : alone) << slot;
  }
}

}  // namespace
}  // namespace cu264
