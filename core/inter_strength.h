// bS of edges in P pictures (H.264 8.7.2.1), for frames with one reference picture.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/motion_vector.h"

namespace cu264::core {

// Luma blocks with coefficients, by luma4x4BlkIdx: bit b for block b. With the 8x8 transform all four blocks
// of an 8x8 block have them if one has.
CU264_HD std::uint32_t blocks_with_coefficients(const MacroblockRecord& mb) {
  const std::uint32_t blocks = mb.nonzero_blocks >> kSlotLuma & 0xffff;
  if (!has_large_transform(mb)) return blocks;
  const std::uint32_t any = (blocks | blocks >> 1 | blocks >> 2 | blocks >> 3) & 0x1111;
  return 15 * any;
}

CU264_HD bool moves_apart(MotionVector a, MotionVector b) {
  const int x = a.x - b.x, y = a.y - b.y;
  return x >= 4 || x <= -4 || y >= 4 || y <= -4;
}

// A macroblock as its edges need it.
struct EdgeSide {
  bool intra;
  std::uint32_t coefficients;  // blocks_with_coefficients
  const MotionVector* vector;  // by 8x8 block
};

CU264_HD EdgeSide edge_side(const MacroblockRecord& mb, const MotionRecord& motion) {
  return {!is_inter(mb.kind), blocks_with_coefficients(mb), motion.vector};
}

// bS between two 4x4 luma blocks of inter macroblocks.
CU264_HD int inter_strength(const EdgeSide& p, int p_block, const EdgeSide& q, int q_block) {
  if (((p.coefficients >> p_block | q.coefficients >> q_block) & 1) != 0) return 2;
  return moves_apart(p.vector[p_block >> 2], q.vector[q_block >> 2]) ? 1 : 0;
}

// bS of one 4x4 block's share of an edge of macroblock q: `edge` 0 is its outer edge, which it shares with p,
// and 1 to 3 lie inside, where p is q. `vertical`: the edge goes down, and `line` counts blocks along it.
CU264_HD int edge_strength(const EdgeSide& p, const EdgeSide& q, bool vertical, int edge, int line) {
  if (p.intra || q.intra) return edge == 0 ? 4 : 3;
  const int before = (edge + 3) & 3;
  const int p_block = vertical ? luma_block_index(before, line) : luma_block_index(line, before);
  const int q_block = vertical ? luma_block_index(edge, line) : luma_block_index(line, edge);
  return inter_strength(p, p_block, q, q_block);
}

}  // namespace cu264::core
