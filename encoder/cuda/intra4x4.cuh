// Intra_4x4 on one warp: all modes of a block judged at once on the tensor cores, two blocks a step where the
// coding order allows it. Decides as encoder/cpu/intra4x4_search_inl.h does.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/cavlc_block.h"
#include "core/intra_pred.h"
#include "core/mb_syntax.h"
#include "core/rdoq.h"
#include "encoder/cuda/macroblock.cuh"
#include "encoder/cuda/warp_block.cuh"
#include "encoder/cuda/warp_satd.cuh"

namespace cu264::encoder::cuda {

// The eight modes other than DC stand in columns 0..7 of the Hadamard product.
__device__ inline int mode_of_column(int column) {
  return column + (column >= 2);
}
__device__ inline int column_of_mode(int mode) {
  return mode - (mode > 2);
}

// What a lane does for every block: constants of the kernel.
struct Intra4x4Lane {
  std::uint32_t sources;  // where in the values its row of its mode lies, a byte a sample
  int line_offset;        // from the block's first sample to its sample of the neighbour line, in the canvas
  int line_offset_without_above_right;
  int needs[2];  // of the modes in columns 2t and 2t + 1: bit 0 left, bit 1 above

  __device__ explicit Intra4x4Lane(const LanePlace& lane) {
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
        // The smallest set of neighbours that admits the mode.
        if (needs[odd] == 0 &&
            core::intra4x4_mode_available(m, {(available & 1) != 0, (available & 2) != 0, available == 3})) {
          needs[odd] = available;
        }
      }
    }
  }
};

// One block of a step, the same in all lanes.
struct Intra4x4Block {
  int block;
  int bx;
  int by;
  int available;  // bit 0 left, bit 1 above
  bool above_right;

  __device__ Intra4x4Block(int luma4x4BlkIdx, const Place& place) : block(luma4x4BlkIdx) {
    bx = core::luma_block_x(block);
    by = core::luma_block_y(block);
    available = (bx > 0 || place.left ? 1 : 0) | (by > 0 || place.above ? 2 : 0);
    above_right = core::intra4x4_above_right_available(block, place.above, place.above_right);
  }
};

// Values that predictions are taken from, for the block of each half (core::intra4x4_values).
template <bool kRd>
__device__ void make_intra4x4_values(WarpState<kRd>& s, const LanePlace& lane, const Intra4x4Lane& constants,
                                     const Intra4x4Block& block) {
  const std::uint8_t* const first = s.canvas.at(4 * block.bx, 4 * block.by);
  const int v0 = first[block.above_right ? constants.line_offset : constants.line_offset_without_above_right];
  const int next = (lane.lane & 16) | min(lane.position + 1, 15),
            after = (lane.lane & 16) | min(lane.position + 2, 15);
  const int v1 = __shfl_sync(kWarp, v0, next), v2 = __shfl_sync(kWarp, v0, after);
  std::uint8_t* const values = s.line[lane.half];
  values[lane.position] = static_cast<std::uint8_t>(v0);
  values[core::kIntra4x4Pair + lane.position] = static_cast<std::uint8_t>((v0 + v1 + 1) >> 1);
  values[core::kIntra4x4Triple + lane.position] = static_cast<std::uint8_t>((v0 + 2 * v1 + v2 + 2) >> 2);
}

template <bool kRd>
__device__ int intra4x4_dc(WarpState<kRd>& s, const Intra4x4Block& block, const std::uint8_t* values) {
  const int left = values[1] + values[2] + values[3] + values[4];
  const int above = sum4(s.canvas.word(4 * block.bx, 4 * block.by - 1));
  if (block.available == 3) return (left + above + 4) >> 3;
  if (block.available == 1) return (left + 2) >> 2;
  return block.available == 2 ? (above + 2) >> 2 : 128;
}

__device__ inline std::uint32_t predicted_row(const std::uint8_t* values, std::uint32_t sources) {
  return pack4(values[sources & 255], values[(sources >> 8) & 255], values[(sources >> 16) & 255],
               values[sources >> 24]);
}

// The ranks (core::ranked) of a block's modes: each lane has those of two columns, and lane 0 that of DC
// besides.
struct Intra4x4Ranks {
  unsigned even;
  unsigned odd;
  unsigned dc;
};

inline constexpr unsigned kNoRank = 0xffffffffu;

template <bool kRd>
__device__ Intra4x4Ranks rank_intra4x4(WarpState<kRd>& s, const SearchConstants& constants,
                                       const LanePlace& lane, const Intra4x4Lane& mine,
                                       const HadamardMatrix& hadamard_matrix, const Intra4x4Block& block,
                                       std::uint32_t prediction_row, int dc, int predicted_mode) {
  const int t = lane.lane & 3;
  const std::uint32_t source_row =
      *reinterpret_cast<const std::uint32_t*>(&s.luma[4 * block.by + t][4 * block.bx]);
  const std::uint32_t satd =
      satd_by_column(hadamard_differences(hadamard_matrix, source_row, prediction_row));
  const auto rank = [&](int cost, int mode) {
    const int bits = core::intra4x4_mode_bits(mode, predicted_mode);
    return static_cast<unsigned>((cost + constants.satd_lambda * bits) * 16 + mode);
  };
  Intra4x4Ranks ranks;
  const int even_mode = mode_of_column(2 * t), odd_mode = mode_of_column(2 * t + 1);
  ranks.even =
      (mine.needs[0] & ~block.available) == 0 ? rank(static_cast<int>(satd & 0xffff), even_mode) : kNoRank;
  ranks.odd =
      (mine.needs[1] & ~block.available) == 0 ? rank(static_cast<int>(satd >> 16), odd_mode) : kNoRank;
  // A flat prediction changes the source's DC coefficient alone.
  const int raster = 4 * block.by + block.bx;
  ranks.dc = rank(s.source_ac[raster] + abs(s.source_dc[raster] - 16 * dc), core::kIntra4x4Dc);
  return ranks;
}

template <bool kRd>
__device__ int predicted_intra4x4_mode(const WarpState<kRd>& s, const Intra4x4Block& block) {
  const int a = s.modes[1 + block.by][block.bx], b = s.modes[block.by][1 + block.bx];
  if ((a | b) < 0) return core::kIntra4x4Dc;
  return min(a, b);
}

// Sample of the prediction that lane `lane` codes, from the rows that the lanes of its mode's column hold.
__device__ inline int sample_of_row(const LanePlace& lane, std::uint32_t row, int mode, int dc) {
  const std::uint32_t word = __shfl_sync(kWarp, row, 4 * column_of_mode(mode) + lane.y);
  return mode == core::kIntra4x4Dc ? dc : static_cast<int>((word >> (8 * lane.x)) & 255);
}

struct Intra4x4Result {
  bool kept = false;  // cost below the limit
  std::int64_t cost = 0;
  int mode_bits = 0;
  std::uint32_t nonzero = 0;  // by slot
  int pattern = 0;
};

// ---- decided by SATD
// ------------------------------------------------------------------------------------------------

// Blocks that may be coded together, a hexadecimal digit a step: each needs only blocks of earlier steps.
// Where the digits agree the block stands alone.
inline constexpr int kIntra4x4Steps = 10;
inline constexpr std::uint64_t kFirstOfStep = 0xfeba763210, kSecondOfStep = 0xfedc985410;

template <bool kRd>
__device__ Intra4x4Result search_intra4x4_by_satd(WarpState<kRd>& s, const SearchConstants& constants,
                                                  const LanePlace& lane, const Intra4x4Lane& mine,
                                                  const HadamardMatrix& matrix,
                                                  const LaneQuantiser& quantiser, const Place& place,
                                                  unsigned limit) {
  Intra4x4Result result;
  unsigned cost = 0;
  for (int step = 0; step < kIntra4x4Steps; ++step) {
    const Intra4x4Block first(static_cast<int>(kFirstOfStep >> (4 * step)) & 15, place);
    const Intra4x4Block second(static_cast<int>(kSecondOfStep >> (4 * step)) & 15, place);
    const bool two = first.block != second.block;
    make_intra4x4_values(s, lane, mine, lane.half == 0 ? first : second);
    __syncwarp();
    const std::uint32_t row0 = predicted_row(s.line[0], mine.sources),
                        row1 = predicted_row(s.line[1], mine.sources);
    const int dc0 = intra4x4_dc(s, first, s.line[0]), dc1 = intra4x4_dc(s, second, s.line[1]);
    const int predicted0 = predicted_intra4x4_mode(s, first), predicted1 = predicted_intra4x4_mode(s, second);
    const Intra4x4Ranks ranks0 =
        rank_intra4x4(s, constants, lane, mine, matrix, first, row0, dc0, predicted0);
    const unsigned best0 = warp_min(min(min(ranks0.even, ranks0.odd), ranks0.dc));
    unsigned best1 = best0;
    cost += best0 >> 4;
    if (two) {
      const Intra4x4Ranks ranks1 =
          rank_intra4x4(s, constants, lane, mine, matrix, second, row1, dc1, predicted1);
      best1 = warp_min(min(min(ranks1.even, ranks1.odd), ranks1.dc));
      cost += best1 >> 4;
    }
    if (cost >= limit) return result;

    const int mode0 = static_cast<int>(best0 & 15), mode1 = static_cast<int>(best1 & 15);
    result.mode_bits += core::intra4x4_mode_bits(mode0, predicted0);
    if (two) result.mode_bits += core::intra4x4_mode_bits(mode1, predicted1);
    const int sample0 = sample_of_row(lane, row0, mode0, dc0),
              sample1 = sample_of_row(lane, row1, mode1, dc1);
    const Intra4x4Block& block = lane.half == 0 ? first : second;
    const int prediction = lane.half == 0 ? sample0 : sample1, mode = lane.half == 0 ? mode0 : mode1;

    const int x = 4 * block.bx + lane.x, y = 4 * block.by + lane.y;
    const int coefficient = forward_transform(lane, s.luma[y][x] - prediction);
    const int level = signed_level(coefficient, quantiser.multiplier, quantiser.shift, quantiser.rounding);
    const unsigned ballot = __ballot_sync(kWarp, level != 0);
    const unsigned nonzero = (ballot >> (16 * lane.half)) & 0xffff;
    int residual = 0;
    if (ballot != 0) residual = inverse_transform(lane, level * quantiser.dequant);
    if (two || lane.half == 0) {
      s.levels[core::kSlotLuma + block.block][lane.coding] = static_cast<std::int16_t>(level);
      *s.canvas.at(x, y) = static_cast<std::uint8_t>(core::clip_sample(prediction + residual, 8));
      if (lane.position == 0) {
        s.modes[1 + block.by][1 + block.bx] = static_cast<std::int8_t>(mode);
        s.luma_counts[1 + block.by][1 + block.bx] = static_cast<std::int8_t>(__popc(nonzero));
        s.counts[core::kSlotLuma + block.block] = static_cast<std::uint8_t>(__popc(nonzero));
      }
    }
    if (ballot & 0xffff) {
      result.nonzero |= 1u << (core::kSlotLuma + first.block);
      result.pattern |= 1 << (first.block >> 2);
    }
    if (two && ballot >> 16) {
      result.nonzero |= 1u << (core::kSlotLuma + second.block);
      result.pattern |= 1 << (second.block >> 2);
    }
    __syncwarp();
  }
  result.kept = true;
  result.cost = cost;
  return result;
}

// ---- decided by rate and distortion
// ---------------------------------------------------------------------------------

template <bool kRdoq>
__device__ Intra4x4Result search_intra4x4_by_rd(WarpState<true>& s, const SearchConstants& constants,
                                                const LanePlace& lane, const Intra4x4Lane& mine,
                                                const HadamardMatrix& matrix, const LaneQuantiser& quantiser,
                                                const Place& place, std::int64_t limit) {
  Intra4x4Result result;
  RdSpace& rd = s.rd;
  for (int luma4x4BlkIdx = 0; luma4x4BlkIdx < 16; ++luma4x4BlkIdx) {
    const Intra4x4Block block(luma4x4BlkIdx, place);
    make_intra4x4_values(s, lane, mine, block);
    __syncwarp();
    const std::uint32_t row = predicted_row(s.line[0], mine.sources);
    const int dc = intra4x4_dc(s, block, s.line[0]);
    const int predicted = predicted_intra4x4_mode(s, block);
    Intra4x4Ranks ranks = rank_intra4x4(s, constants, lane, mine, matrix, block, row, dc, predicted);

    // The best by SATD, lane i keeping the i-th.
    int my_mode = -1, tried = 0;
    for (; tried < constants.search.rd_candidates; ++tried) {
      const unsigned best = warp_min(min(min(ranks.even, ranks.odd), ranks.dc));
      if (best == kNoRank) break;
      if (lane.lane == tried) my_mode = static_cast<int>(best & 15);
      if (ranks.even == best) ranks.even = kNoRank;
      if (ranks.odd == best) ranks.odd = kNoRank;
      if (ranks.dc == best) ranks.dc = kNoRank;
    }

    // Transform and quantise, two candidates a pass.
    const int x = 4 * block.bx + lane.x, y = 4 * block.by + lane.y;
    const int source = s.luma[y][x];
    for (int pass = 0; pass < tried; pass += 2) {
      const int candidate = min(pass + lane.half, tried - 1);
      const int mode = __shfl_sync(kWarp, my_mode, candidate);
      const int prediction = sample_of_row(lane, row, mode, dc);
      const int coefficient = forward_transform(lane, source - prediction);
      if (kRdoq) {
        rd.trial.scaled[candidate][lane.coding] = abs(coefficient) * quantiser.multiplier;
        rd.trial.levels[candidate][lane.coding] = static_cast<std::int16_t>(coefficient < 0);
      } else {
        rd.trial.levels[candidate][lane.coding] = static_cast<std::int16_t>(
            signed_level(coefficient, quantiser.multiplier, quantiser.shift, quantiser.rounding));
      }
    }
    __syncwarp();

    // Levels and bits, a candidate a lane.
    const int nC = core::nc_from_neighbours(s.luma_counts[1 + block.by][block.bx],
                                            s.luma_counts[block.by][1 + block.bx]);
    int bits = 0;
    if (lane.lane < tried) {
      std::int16_t* const levels = rd.trial.levels[lane.lane];
      if (kRdoq) {
        choose_levels(rd.trial, lane.lane, 16, quantiser.shift, nC);
      }
      bits = core::intra4x4_mode_bits(my_mode, predicted) + core::cavlc_block_bits(levels, 16, nC);
    }
    __syncwarp();

    // Reconstruct and measure, two candidates a pass.
    std::int64_t rank = INT64_MAX;
    for (int pass = 0; pass < tried; pass += 2) {
      const int candidate = min(pass + lane.half, tried - 1);
      const int mode = __shfl_sync(kWarp, my_mode, candidate);
      const int prediction = sample_of_row(lane, row, mode, dc);
      const int residual =
          inverse_transform(lane, rd.trial.levels[candidate][lane.coding] * quantiser.dequant);
      const int sample = core::clip_sample(prediction + residual, 8);
      rd.reconstruction[candidate][lane.position] = static_cast<std::uint8_t>(sample);
      const int squared_error = half_sum((source - sample) * (source - sample));
      const int mine_of_pass = __shfl_sync(kWarp, squared_error, lane.lane == pass ? 0 : 16);
      if ((lane.lane == pass || lane.lane == pass + 1) && lane.lane < tried) {
        rank = core::ranked(core::rd_cost(mine_of_pass, bits, constants.rd_lambda), my_mode);
      }
    }
    __syncwarp();

    const std::int64_t best = warp_min(rank);
    const int winner = __ffs(static_cast<int>(__ballot_sync(kWarp, rank == best))) - 1;
    const int mode = core::mode_of_rank(best);
    const int level = rd.trial.levels[winner][lane.coding];
    const unsigned nonzero = __ballot_sync(kWarp, level != 0) & 0xffff;
    if (lane.half == 0) {
      s.levels[core::kSlotLuma + luma4x4BlkIdx][lane.coding] = static_cast<std::int16_t>(level);
      *s.canvas.at(x, y) = rd.reconstruction[winner][lane.position];
      if (lane.position == 0) {
        s.modes[1 + block.by][1 + block.bx] = static_cast<std::int8_t>(mode);
        s.luma_counts[1 + block.by][1 + block.bx] = static_cast<std::int8_t>(__popc(nonzero));
        s.counts[core::kSlotLuma + luma4x4BlkIdx] = static_cast<std::uint8_t>(__popc(nonzero));
      }
    }
    if (nonzero != 0) {
      result.nonzero |= 1u << (core::kSlotLuma + luma4x4BlkIdx);
      result.pattern |= 1 << (luma4x4BlkIdx >> 2);
    }
    result.mode_bits += core::intra4x4_mode_bits(mode, predicted);
    result.cost += core::cost_of_rank(best);
    __syncwarp();
    if (result.cost >= limit) return result;
  }
  result.kept = true;
  return result;
}

}  // namespace cu264::encoder::cuda
