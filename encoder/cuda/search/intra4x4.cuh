// The steps of Intra_4x4 on one warp. The tensor cores judge all modes of a block at once, and a step takes
// two blocks where the coding order allows it.
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/intra_pred.h"
#include "core/luma_decision.h"
#include "encoder/cuda/search/block_steps.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/marks.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"
#include "encoder/cuda/search/warp_satd.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// The eight modes other than DC take columns 0..7 of the Hadamard product.
__device__ inline int mode_of_column(int column) {
  return column + (column >= 2);
}
__device__ inline int column_of_mode(int mode) {
  return mode - (mode > 2);
}

// This says what a lane does for every block. It stays constant throughout the kernel.
struct Intra4x4Lane {
  std::uint32_t sources;  // indices into the values of its mode's samples in its row, one byte each
  int line_offset;  // offset in the canvas from the block's first sample to the lane's neighbouring sample
  int line_offset_without_above_right;
  int needs[2];  // the neighbours that the modes in columns 2t and 2t + 1 need, as HalfBlock::available

  __device__ explicit Intra4x4Lane(const LaneIndices& lane) {
    const int mode = mode_of_column(lane.lane >> 2), y = lane.lane & 3;
    sources = pack4(core::intra4x4_source(mode, 0, y), core::intra4x4_source(mode, 1, y),
                    core::intra4x4_source(mode, 2, y), core::intra4x4_source(mode, 3, y));
    const int i = lane.position;
    if (i < core::kIntra4x4LineCorner) {
      line_offset = (core::kIntra4x4LineLeft - max(i, 1)) * Canvas::kPitch - 1;
    } else {
      line_offset = min(i, 13) - core::kIntra4x4LineTop - Canvas::kPitch;
    }
    line_offset_without_above_right = i > 9 ? 3 - Canvas::kPitch : line_offset;
    for (int odd = 0; odd < 2; ++odd) {
      const int m = mode_of_column(2 * (lane.lane & 3) + odd);
      needs[odd] = 0;
      for (const int available : {1, 2, 3}) {
        // The smallest set of neighbours that the mode can do with.
        if (needs[odd] == 0 &&
            core::intra4x4_mode_available(m, {(available & 1) != 0, (available & 2) != 0, available == 3})) {
          needs[odd] = available;
        }
      }
      if (core::intra4x4_reads_above_right(m)) needs[odd] |= 4;
    }
  }
};

// The blocks of a step, and what the prediction of the block of the lane's half needs.
struct HalfBlock {
  StepBlock first;
  StepBlock second;
  StepBlock own;
  int available;  // bit 0: left, bit 1: above, bit 2: modes that read samples above and to the right
  int dc;
  int predicted_mode;
};

// Computes the values that predictions are taken from (core::intra4x4_values without DC) for the blocks of
// both halves. kReadsAboveRight: also from the macroblock above and to the right, whose samples are in the
// canvas.
template <bool kReadsAboveRight, bool kRd>
__device__ HalfBlock begin_step(WarpState<kRd>& s, const LaneIndices& lane, const Intra4x4Lane& constants,
                                unsigned neighbours, int step) {
  HalfBlock b;
  b.first = first_of_step(step), b.second = second_of_step(step);
  b.own.where = lane.half == 0 ? b.first.where : b.second.where;
  b.own.about = lane.half == 0 ? b.first.about : b.second.about;
  const int edges = static_cast<int>((b.own.about | neighbours) & (kHasLeft | kHasAbove));
  b.available = edges | (!kReadsAboveRight && (b.own.about & neighbours & kAvoidsAboveRight) != 0 ? 0 : 4);
  constexpr unsigned kOfMacroblock = kHasAboveRightIfAbove | (kReadsAboveRight ? kAvoidsAboveRight : 0);
  const bool above_right = (b.own.about & ((neighbours & kOfMacroblock) | kHasAboveRight)) != 0;
  const std::uint8_t* const first = s.canvas.at(0, 0) + b.own.canvas();
  const int v0 = first[above_right ? constants.line_offset : constants.line_offset_without_above_right];
  const int next = (lane.lane & 16) | min(lane.position + 1, 15),
            after = (lane.lane & 16) | min(lane.position + 2, 15);
  const int v1 = __shfl_sync(kWarp, v0, next), v2 = __shfl_sync(kWarp, v0, after);
  std::uint8_t* const values = s.line[lane.half].values();
  values[lane.position] = static_cast<std::uint8_t>(v0);
  values[core::kIntra4x4Pair + lane.position] = static_cast<std::uint8_t>((v0 + v1 + 1) >> 1);
  values[core::kIntra4x4Triple + lane.position] = static_cast<std::uint8_t>((v0 + 2 * v1 + v2 + 2) >> 2);

  const std::int8_t* const modes = s.modes.cells + b.own.grid();
  const int a = modes[-1], above_mode = modes[-BlockGrid<4>::kPitch];
  b.predicted_mode = (a | above_mode) < 0 ? static_cast<int>(core::kIntra4x4Dc) : min(a, above_mode);
  __syncwarp();
  const int left = sum4(s.line[lane.half].left()),
            above = sum4(*reinterpret_cast<const std::uint32_t*>(first - Canvas::kPitch));
  const int sum = (edges & 1 ? left : 0) + (edges & 2 ? above : 0);
  b.dc = edges == 3 ? (sum + 4) >> 3 : edges == 0 ? 128 : (sum + 2) >> 2;
  return b;
}

__device__ inline std::uint32_t predicted_row(const std::uint8_t* values, std::uint32_t sources) {
  return pack4(values[sources & 255], values[(sources >> 8) & 255], values[(sources >> 16) & 255],
               values[sources >> 24]);
}

// The predicted rows of both blocks, in the order of the Hadamard product.
struct PredictedRows {
  std::uint32_t first;
  std::uint32_t second;
};

// The ranks (core::ranked) of the modes in columns 2t and 2t + 1 and of DC. Even groups of four lanes hold
// those of the first block, odd groups those of the second.
struct ModeRanks {
  unsigned even;
  unsigned odd;
  unsigned dc;

  // The best rank that is left for each block; the same in all lanes of even groups, and in all lanes of odd
  // groups.
  __device__ unsigned best() const {
    unsigned least = min(min(even, odd), dc);
    least = min(least, __shfl_xor_sync(kWarp, least, 1));
    return min(least, __shfl_xor_sync(kWarp, least, 2));
  }
  __device__ void remove(unsigned rank) {
    if (even == rank) even = core::kNoRank;
    if (odd == rank) odd = core::kNoRank;
    if (dc == rank) dc = core::kNoRank;
  }
};

// A lane that ranks the modes of the half's block.
inline constexpr int kFirstRankingLane = 0, kSecondRankingLane = 4;
__device__ inline int ranking_lane(const LaneIndices& lane) {
  return lane.half == 0 ? kFirstRankingLane : kSecondRankingLane;
}

template <bool kRd>
__device__ ModeRanks rank_modes(const WarpState<kRd>& s, const SearchConstants& constants,
                                const LaneIndices& lane, const Intra4x4Lane& mine,
                                const HadamardMatrix& matrix, const HalfBlock& block,
                                const PredictedRows& rows) {
  const int t = lane.lane & 3;
  const auto satd_of = [&](const StepBlock& b, std::uint32_t row) {
    const std::uint32_t source = *reinterpret_cast<const std::uint32_t*>(&s.luma[t][0] + b.source());
    return partial_satd_by_column(hadamard_differences(matrix, source, row));
  };
  const std::uint32_t first = satd_of(block.first, rows.first), second = satd_of(block.second, rows.second);
  // Even groups sum the columns of the first block, odd groups those of the second.
  const bool odd_group = (lane.lane & 4) != 0;
  std::uint32_t satd = (odd_group ? second : first) + __shfl_xor_sync(kWarp, odd_group ? first : second, 4);
  satd += __shfl_xor_sync(kWarp, satd, 8);
  satd += __shfl_xor_sync(kWarp, satd, 16);

  const int about = block.available | block.predicted_mode << 3 | block.dc << 8 | block.own.raster() << 16;
  const int told = __shfl_sync(kWarp, about, odd_group ? 16 : 0);
  const int available = told & 7, predicted = (told >> 3) & 15, dc = (told >> 8) & 255, raster = told >> 16;
  const auto rank = [&](int satd, int mode) {
    const int bits = constants.rate().intra4x4_mode_bits(mode, predicted);
    return core::satd_rank<SearchRate>(satd, constants.satd_lambda, bits, mode);
  };
  ModeRanks ranks;
  const int even_mode = mode_of_column(2 * t), odd_mode = mode_of_column(2 * t + 1);
  const auto unless = [&](int needs) { return needs & ~available ? core::kNoRank : 0u; };
  ranks.even = rank(static_cast<int>(satd & 0xffff), even_mode) | unless(mine.needs[0]);
  ranks.odd = rank(static_cast<int>(satd >> 16), odd_mode) | unless(mine.needs[1]);
  // A flat prediction changes only the DC coefficient of the source.
  ranks.dc = rank(s.source_ac[raster] + abs(s.source_dc[raster] - 16 * dc), core::kIntra4x4Dc);
  return ranks;
}

// The predicted sample at the lane's position in its half's block, with `mode`.
__device__ inline int sample_of_rows(const LaneIndices& lane, const PredictedRows& rows, int mode, int dc) {
  const int from = 4 * column_of_mode(mode) + lane.y;
  const std::uint32_t first = __shfl_sync(kWarp, rows.first, from),
                      second = __shfl_sync(kWarp, rows.second, from);
  const std::uint32_t word = lane.half == 0 ? first : second;
  return mode == core::kIntra4x4Dc ? dc : static_cast<int>((word >> (8 * lane.x)) & 255);
}

// A half's share of the result so far, the same in all its lanes.
struct HalfTally {
  unsigned bits_and_pattern = 0;  // mode bits, and the pattern << StepBlock::kPatternShift
  std::int64_t cost = 0;

  __device__ void finish(core::IntraNxNResult& result) const {
    const unsigned first = __shfl_sync(kWarp, bits_and_pattern, 0),
                   second = __shfl_sync(kWarp, bits_and_pattern, 16);
    result.pattern = static_cast<int>((first | second) >> StepBlock::kPatternShift);
    result.mode_bits = static_cast<int>((first + second) & 0xffff);
    result.cost = __shfl_sync(kWarp, cost, 0) + __shfl_sync(kWarp, cost, 16);
    result.kept = true;
  }
};

// Stores the block of each half in the warp's state.
template <bool kRd>
__device__ void finish_step(WarpState<kRd>& s, const SearchConstants& constants, const LaneIndices& lane,
                            const HalfBlock& block, int mode, int level, int sample, HalfTally& tally) {
  const unsigned ballot = __ballot_sync(kWarp, level != 0);
  const int count = __popc((ballot >> (16 * lane.half)) & 0xffff);
  if (!block.own.idle()) {
    s.levels[core::kSlotLuma + block.own.block()][lane.coding] = static_cast<std::int16_t>(level);
    s.canvas.at(lane.x, lane.y)[block.own.canvas()] = static_cast<std::uint8_t>(sample);
    if (lane.position == 0) {
      s.modes.cells[block.own.grid()] = static_cast<std::int8_t>(mode);
      s.luma_counts.cells[block.own.grid()] = static_cast<std::int8_t>(count);
      s.counts[core::kSlotLuma + block.own.block()] = static_cast<std::uint8_t>(count);
    }
    tally.bits_and_pattern += constants.rate().intra4x4_mode_bits(mode, block.predicted_mode);
    if (count != 0) tally.bits_and_pattern |= block.own.pattern();
  }
  __syncwarp();
}

// The cost by SATD of the blocks so far, and whether it reaches the limit of a quarter of the macroblock. A
// quarter ends with an odd step, where the second blocks of two steps belong to the next one.
struct QuarterCost {
  unsigned ahead = 0;  // the cost of those

  template <class Rule>
  __device__ bool reaches_limit(const Rule& rule, int step, unsigned cost, unsigned second_cost) {
    const bool odd = (step & 1) != 0;
    ahead = odd ? ahead + second_cost : second_cost;
    if (!odd || step < 3 || step > 7) return false;
    const unsigned limit = step == 3   ? rule.quarter_limit[0]
                           : step == 5 ? rule.quarter_limit[1]
                                       : rule.quarter_limit[2];
    return cost - ahead >= limit;
  }
};

// The samples above and to the right of the macroblock, in streams with Intra_8x8. They are loaded when
// they are needed, because the macroblock there may still be searched.
template <class AboveRight>
struct AboveRightSamples {
  const AboveRight& above_right;
  bool loaded;
  static constexpr bool kAny = true;

  template <bool kRd>
  __device__ void load_for(WarpState<kRd>& s, const LaneIndices& lane, int step) const {
    if (step == kAboveRightStep && !loaded) above_right.load(s, lane);
  }
};
struct NoAboveRightSamples {
  static constexpr bool kAny = false;
  template <bool kRd>
  __device__ void load_for(WarpState<kRd>&, const LaneIndices&, int) const {}
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
