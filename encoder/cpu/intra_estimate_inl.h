// What Intra prediction would cost a macroblock of a P picture by SATD, as far as its source tells: the
// neighbours' samples are the source's, so macroblocks can be measured in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/candidates.h"
#include "core/intra_trial.h"
#include "encoder/cpu/intra16x16_search_inl.h"
#include "encoder/cpu/intra4x4_search_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/macroblock_inl.h"
#include "encoder/cpu/padded_plane.h"

namespace cu264::encoder::CU264_ISA {

static inline void load_source_neighbours(MacroblockContext& mb, const PaddedPlane& source, int x, int y) {
  mb.luma_above[0] = *source.at(x - 1, y - 1);
  std::memcpy(mb.luma_above + 1, source.at(x, y - 1), 16);
  std::memcpy(mb.luma_above_right, source.at(x + 16, y - 1), sizeof mb.luma_above_right);
  for (int row = -1; row < 16; ++row) mb.luma_left[1 + row] = *source.at(x - 1, y + row);
}

// Whether Intra prediction costs less than `limit`. mb.luma and the availability of neighbours are set.
static inline bool intra_costs_less(MacroblockContext& mb, const PaddedPlane& source, int x, int y,
                                    int limit) {
  load_source_neighbours(mb, source, x, y);
  std::uint8_t predictions[core::kIntra16x16Modes][16][16];
  core::SatdRank ranks[core::kIntra16x16Modes];
  rank_intra16x16(mb, 0, predictions, ranks);
  if (static_cast<int>(core::cost_of_rank(ranks[0])) < limit) return true;

  Intra4x4Canvas canvas;
  load_canvas(mb, canvas);
  for (int row = 0; row < 16; ++row) std::memcpy(canvas.at(0, row), mb.luma[row], 16);
  int blocks = 0;
  for (int block = 0; block < 16 && blocks < limit; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
    const core::Intra4x4Neighbours available = {bx > 0 || mb.left, by > 0 || mb.above,
                                                (bx > 0 || mb.left) && (by > 0 || mb.above)};
    Intra4x4Predictions all;
    predict_all_modes(canvas, 4 * bx, 4 * by, available,
                      core::intra4x4_above_right_available(block, mb.above, mb.above_right), all);
    std::uint8_t samples[16];
    for (int i = 0; i < 16; ++i) samples[i] = mb.luma[4 * by + (i >> 2)][4 * bx + (i & 3)];
    Lanes satd;
    satd_all_modes(samples, all, satd);
    int least = INT32_MAX;
    for (int mode = 0; mode < core::kIntra4x4Modes; ++mode) {
      if (core::intra4x4_mode_available(mode, available))
        least = std::min(least, static_cast<int>(static_cast<std::uint16_t>(satd[mode])));
    }
    blocks += least + core::kDefaultModeBits * mb.satd_lambda;
  }
  return blocks < limit;
}

}  // namespace cu264::encoder::CU264_ISA
