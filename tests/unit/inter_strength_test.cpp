// bS agrees with H.264 8.7.2.1, written out sample by sample.

#include "core/inter_strength.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace {

using namespace cu264::core;

struct Macroblock {
  MacroblockRecord record;
  MotionRecord motion;

  bool intra() const { return record.kind < MacroblockKind::p16x16; }
  // Whether the transform block that contains a luma sample has a level.
  bool has_levels(int x, int y) const {
    const int first =
        record.inter_transform_8x8 ? luma_block_index(x / 8 * 2, y / 8 * 2) : luma_block_index(x / 4, y / 4);
    const int count = record.inter_transform_8x8 ? 4 : 1;
    for (int i = 0; i < count; ++i) {
      if ((record.nonzero_blocks >> (kSlotLuma + first + i) & 1) != 0) return true;
    }
    return false;
  }
  MotionVector vector(int x, int y) const { return motion.vector[y / 8 * 2 + x / 8]; }
};

int strength(const Macroblock& p, int px, int py, const Macroblock& q, int qx, int qy, bool macroblock_edge) {
  if (p.intra() || q.intra()) return macroblock_edge ? 4 : 3;
  if (p.has_levels(px, py) || q.has_levels(qx, qy)) return 2;
  const MotionVector a = p.vector(px, py), b = q.vector(qx, qy);
  return std::abs(a.x - b.x) >= 4 || std::abs(a.y - b.y) >= 4 ? 1 : 0;
}

TEST(InterStrength, IsThatOfTheStandard) {
  std::mt19937 random(1);
  int counts[5] = {};
  for (int round = 0; round < 2000; ++round) {
    Macroblock mbs[2];
    for (Macroblock& mb : mbs) {
      mb.record.kind = random() % 4 == 0 ? MacroblockKind::intra16x16 : MacroblockKind::p8x8;
      mb.record.inter_transform_8x8 = !mb.intra() && random() % 2 != 0;
      mb.record.nonzero_blocks = static_cast<std::uint32_t>(random() & random() & random() & 0x7ffffff);
      for (MotionVector& v : mb.motion.vector)
        v = motion_vector(static_cast<int>(random() % 9) - 4, static_cast<int>(random() % 7) - 3);
    }
    const Macroblock &p = mbs[0], &q = mbs[1];
    const EdgeSide before = edge_side(p.record, p.motion), here = edge_side(q.record, q.motion);
    for (int edge = 0; edge < 4; ++edge) {
      for (int sample = 0; sample < 16; ++sample) {
        const Macroblock& other = edge == 0 ? p : q;
        const EdgeSide& side = edge == 0 ? before : here;
        const int at = 4 * edge, last = (at + 15) % 16;
        const int vertical = strength(other, last, sample, q, at, sample, edge == 0);
        ++counts[vertical];
        ASSERT_EQ(edge_strength(side, here, true, edge, sample / 4), vertical);
        ASSERT_EQ(edge_strength(side, here, false, edge, sample / 4),
                  strength(other, sample, last, q, sample, at, edge == 0));
      }
    }
  }
  for (const int count : counts) EXPECT_GT(count, 0);
}

}  // namespace
