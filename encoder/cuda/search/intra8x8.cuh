// Intra_8x8 on one warp, with the results of encoder/cpu/intra8x8_search_inl.h. The tensor cores judge all
// modes of a block at once.
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/intra8x8_pred.h"
#include "core/luma_decision.h"
#include "encoder/cuda/search/block8x8_coder.cuh"
#if defined(CU264_COUNTS_CABAC)
#include "encoder/cuda/search/block8x8_whole.cuh"
#else
#include "encoder/cuda/search/block8x8_interleaved.cuh"
#endif
#include "encoder/cuda/search/intra4x4.cuh"
#include "encoder/cuda/search/intra8x8_space.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/marks.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_satd8x8.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// Where the search for Intra_8x8 finds what it needs. AboveRight::load(s, lane) puts the samples above and to
// the right of the macroblock into the canvas, once they are known.
template <class AboveRight>
struct Intra8x8Workspace {
  static constexpr bool kAny = true;
  Intra8x8Space& space;
  const Intra8x8Tables& tables;
  AboveRight above_right;
};
// Kernels for streams without Intra_8x8 take this instead.
struct NoIntra8x8Workspace {
  static constexpr bool kAny = false;
};

// The shared memory of a thread block for it; each row that the block searches needs a space besides.
template <bool kIntra8x8>
struct Intra8x8Shared {
  using Space = NoSpace;
  __device__ void fill() {}
  template <class AboveRight>
  __device__ NoIntra8x8Workspace workspace(Space&, const AboveRight&) {
    return {};
  }
};
template <>
struct Intra8x8Shared<true> {
  using Space = Intra8x8Space;
  Intra8x8Tables tables;

  // All threads of the block call this; a barrier must follow before the first use.
  __device__ void fill() { tables.fill(); }
  template <class AboveRight>
  __device__ Intra8x8Workspace<AboveRight> workspace(Space& space, const AboveRight& above_right) {
    return {space, tables, above_right};
  }
};

// Computes the values that the predictions of a block are taken from.
template <bool kRd>
__device__ Block8x8 begin_block8x8(WarpState<kRd>& s, Intra8x8Space& space, const LaneIndices& lane,
                                   const MacroblockPosition& position, int block) {
  const int bx = block & 1, by = block >> 1;
  const bool left = bx > 0 || position.left, above = by > 0 || position.above;
  Block8x8 b;
  b.block = block;
  b.x = 8 * bx, b.y = 8 * by;
  b.grid = BlockGrid<4>::kOwn + 2 * by * BlockGrid<4>::kPitch + 2 * bx;
  b.available = {left, above, left && above};

  // The lane's sample of the complete line (core::intra8x8_complete_line).
  const bool above_right = core::intra8x8_above_right_available(block, position.above, position.above_right);
  const int last = core::kIntra8x8LineTop + (above_right ? 15 : 7);
  int at = min(max(lane.lane, 1), last);
  if (at == core::kIntra8x8LineCorner && !b.available.corner) {
    at = above ? core::kIntra8x8LineTop : core::kIntra8x8LineLeft;
  }
  const int sample = at < core::kIntra8x8LineCorner
                         ? *s.canvas.at(b.x - 1, b.y + core::kIntra8x8LineLeft - at)
                         : *s.canvas.at(b.x + at - core::kIntra8x8LineTop, b.y - 1);

  // Filtered, then the means of two and of three (core::intra8x8_values).
  constexpr int kLast = core::kIntra8x8LineLength - 2;  // the last one that is filtered; it is then repeated
  const int before = __shfl_up_sync(kWarp, sample, 1), after = __shfl_down_sync(kWarp, sample, 1);
  const int v0 = __shfl_sync(kWarp, (before + 2 * sample + after + 2) >> 2, min(max(lane.lane, 1), kLast));
  const int v1 = __shfl_down_sync(kWarp, v0, 1), v2 = __shfl_down_sync(kWarp, v0, 2);
  space.values[lane.lane] = static_cast<std::uint8_t>(v0);
  space.values[core::kIntra8x8Pair + lane.lane] = static_cast<std::uint8_t>((v0 + v1 + 1) >> 1);
  space.values[core::kIntra8x8Triple + lane.lane] = static_cast<std::uint8_t>((v0 + 2 * v1 + v2 + 2) >> 2);

  const bool is_left = lane.lane > 0 && lane.lane <= core::kIntra8x8LineLeft;
  const bool is_above = lane.lane >= core::kIntra8x8LineTop && lane.lane < core::kIntra8x8LineTop + 8;
  const int sums = warp_sum((left && is_left ? v0 : 0) + (above && is_above ? v0 : 0));
  b.dc = left && above ? (sums + 8) >> 4 : left || above ? (sums + 4) >> 3 : 128;

  const std::int8_t* const modes = s.modes.cells + b.grid;
  const int a = modes[-1], above_mode = modes[-BlockGrid<4>::kPitch];
  b.predicted_mode = uniform((a | above_mode) < 0 ? static_cast<int>(core::kIntra4x4Dc) : min(a, above_mode));
  __syncwarp();
  return b;
}

// The neighbours without which the mode of the lane's rank is not available (core::intra4x4_mode_available):
// bit 0 left, bit 1 above. Lanes from 9 on, which have no mode, have bit 2 instead.
__device__ inline int needs_of_lane8x8(int lane) {
  constexpr unsigned kNeeds = [] {
    unsigned needs = 0;
    for (int column = 0; column < 8; ++column) {
      const int mode = column + (column >= 2);
      unsigned least = 3;
      for (unsigned available = 2; available > 0; --available) {
        const bool left = (available & 1) != 0, above = (available & 2) != 0;
        if (core::intra4x4_mode_available(mode, {left, above, false})) least = available;
      }
      needs |= least << (4 * column);
    }
    return needs;
  }();
  return lane < 8 ? static_cast<int>(kNeeds >> (4 * lane)) & 15 : lane == 8 ? 0 : 4;
}

// Writes the predictions of all modes but DC. Returns in lane k below 8 the rank of the mode in column k, in
// lane 8 that of DC, and in the others core::kNoRank.
template <bool kRd>
__device__ core::SatdRank rank_modes8x8(const WarpState<kRd>& s, const SearchConstants& constants,
                                        Intra8x8Space& space, const Intra8x8Tables& tables,
                                        const LaneIndices& lane, const HadamardMatrix& matrix,
                                        const Block8x8& b) {
  const int g = lane.lane >> 2, t = lane.lane & 3, x = 4 * (g & 1), y = 4 * ((g >> 1) & 1) + t;
  const std::uint32_t source = *reinterpret_cast<const std::uint32_t*>(&s.luma[b.y + y][b.x + x]);
  const uint4 sources = *reinterpret_cast<const uint4*>(tables.sources[lane.lane]);
  const std::uint32_t of_columns[4] = {sources.x, sources.y, sources.z, sources.w};
  std::uint32_t sums[2] = {};
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    const std::uint32_t row = predicted_row(space.values, of_columns[m]);
    *reinterpret_cast<std::uint32_t*>(&space.predictions[2 * m + (g >> 2)][8 * y + x]) = row;
    sums[m >> 1] |= partial_satd8x8(hadamard_differences(matrix, source, row)) << (16 * (m & 1));
  }
  // A flat prediction changes only the DC coefficient of the source.
  const int samples = s.samples8x8[b.block];
  const int flat_satd = s.satd8x8[b.block] + (abs(samples - 64 * b.dc) - samples) / 2;

  // Even groups sum up columns 0 to 3, odd groups columns 4 to 7.
  const bool odd_group = (g & 1) != 0;
  std::uint32_t satd =
      (odd_group ? sums[1] : sums[0]) + __shfl_xor_sync(kWarp, odd_group ? sums[0] : sums[1], 4);
  satd += __shfl_xor_sync(kWarp, satd, 8);
  satd += __shfl_xor_sync(kWarp, satd, 16);
  const int column = lane.lane & 7;
  const std::uint32_t pair = __shfl_sync(kWarp, satd, 4 * (column >> 2) + 2 * (column & 1));
  const int of_column = static_cast<int>((column & 2) != 0 ? pair >> 16 : pair & 0xffff);

  const bool is_column = lane.lane < 8;
  const int mode = is_column ? mode_of_column(lane.lane) : static_cast<int>(core::kIntra4x4Dc);
  const int bits = constants.rate().intra4x4_mode_bits(mode, b.predicted_mode);
  const int has = (b.available.left ? 1 : 0) | (b.available.above ? 2 : 0);
  const bool available = (needs_of_lane8x8(lane.lane) & ~has) == 0;
  __syncwarp();
  return available ? core::satd_rank<SearchRate>(is_column ? of_column : flat_satd, constants.satd_lambda,
                                                 bits, mode)
                   : core::kNoRank;
}

// The mode that was chosen for a block, and its cost where rate and distortion decide.
struct Chosen8x8 {
  int mode;
  std::uint32_t cost;
};

// Quantises the best candidate, or each of the best two, by RDOQ. Leaves the block in the warp's state as the
// better one codes it, with its counts; `samples` as below.
template <class Rate>
__device__ Chosen8x8 choose_by_rdoq8x8(Coder8x8<true>& coder, const SearchConstants& constants,
                                       const Rate& rate, const LaneIndices& lane, const Block8x8& b,
                                       const core::BestTwo& best, Samples8x8& samples, Coded8x8& best_coded) {
  std::uint32_t& levels = reinterpret_cast<std::uint32_t*>(coder.s.levels[b.slot()])[lane.lane];
  std::uint32_t kept_levels = 0;
  Chosen8x8 chosen{core::BestTwo::kNoMode, UINT32_MAX};
  // The best comes last, because it usually stays the best and its levels are then in place.
#pragma unroll 1
  for (int i = best.are_close() ? 1 : 0; i >= 0; --i) {
    const int mode = i > 0 ? best.mode[1] : best.mode[0];
    coder.load_prediction(b, mode, samples);
    const int bits = quantise_by_rdoq(coder, lane, rate, b, samples);
    const Coded8x8 coded = coder.reconstruct_stored(b, samples);
    const std::uint32_t cost = core::intra_nxn_block_cost<SearchRate>(
        samples.squared_error(coded), rate.intra4x4_mode_bits(mode, b.predicted_mode), bits,
        constants.rd_lambda);
    __syncwarp();  // all lanes have read the levels
    if (core::precedes(cost, mode, chosen.cost, chosen.mode)) {
      chosen = {mode, cost};
      best_coded = coded;
      kept_levels = levels;
    } else {
      levels = kept_levels;
      coder.store_counts(lane, b, best_coded);
      coder.load_prediction(b, chosen.mode, samples);
    }
    __syncwarp();
  }
  return chosen;
}

// Leaves the block in the warp's state as the best candidate by rate and distortion codes it. `rank` is what
// rank_modes8x8 returns. `samples` has the source at first, and in the end the chosen prediction.
template <bool kRdoq, class Rate>
__device__ Chosen8x8 choose_mode8x8(Coder8x8<true>& coder, const SearchConstants& constants, const Rate& rate,
                                    const LaneIndices& lane, const Block8x8& b, core::SatdRank rank,
                                    Samples8x8& samples, Coded8x8& best_coded) {
  core::BestTwo best;
  int trial = 0;  // which of trial_levels the next candidate takes; the other one has the best
  unsigned least_cost = 0;
#pragma unroll 1
  for (int tried = 0; tried < constants.search.rd_candidates; ++tried) {
    const core::SatdRank next = warp_min(rank);
    if (next == core::kNoRank) break;
    if (rank == next) rank = core::kNoRank;
    if (tried == 0) least_cost = core::cost_of_rank(next);
    if (!core::is_worth_trial(core::cost_of_rank(next), least_cost, constants.search.worth_intra8x8)) break;
    const int mode = core::mode_of_rank(next);
    coder.load_prediction(b, mode, samples);
    const Coded8x8 coded = coder.code(samples, coder.space.trial_levels[trial]);
    const int squared_error = samples.squared_error(coded);
    __syncwarp();
    // Some candidates lose by their error alone, without their bits being counted.
    const std::uint32_t most = kRdoq ? best.most() : best.cost[0];
    if (core::intra_nxn_block_cost<SearchRate>(squared_error, 0, 0, constants.rd_lambda) > most) continue;
    const int bits = trial_bits(coder.s, lane, rate, b, coder.space.trial_levels[trial], coded.counts);
    const std::uint32_t cost = core::intra_nxn_block_cost<SearchRate>(
        squared_error, rate.intra4x4_mode_bits(mode, b.predicted_mode), bits, constants.rd_lambda);
    __syncwarp();  // all lanes have read the levels
    if (!best.take(cost, mode) || kRdoq) continue;
    best_coded = coded;
    trial ^= 1;
  }
  __syncwarp();
  if constexpr (kRdoq) {
    return choose_by_rdoq8x8(coder, constants, rate, lane, b, best, samples, best_coded);
  }
  reinterpret_cast<std::uint32_t*>(coder.s.levels[b.slot()])[lane.lane] =
      reinterpret_cast<const std::uint32_t*>(coder.space.trial_levels[trial ^ 1])[lane.lane];
  coder.load_prediction(b, best.mode[0], samples);
  return {best.mode[0], best.cost[0]};
}

// Puts the marks of a watermark into the interleaved blocks of a coded block. Decisions do not take marks
// into account.
template <bool kRd, MarkScheme kScheme>
__device__ void mark_block8x8(Coder8x8<kRd>& coder, const LaneIndices& lane, const Marks<kScheme>& marks,
                              const Block8x8& b, const Samples8x8& samples) {
  const std::uint32_t of_block = marks.word >> (4 * b.block);
  if ((of_block & 15) == 0) return;
  __syncwarp();
  bool changes = false;
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
    const int i = 2 * pass + lane.half;
    std::int16_t& stored = coder.s.levels[b.slot() + i][lane.position];
    const int before = stored;
    const int level = call_mark_level(before, lane.half, lane.position, of_block >> i, marks.by_parity());
    const unsigned nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
    changes |= level != before;
    stored = static_cast<std::int16_t>(level);
    if (lane.position == 0) coder.set_count(b, i, __popc(nonzero));
  }
  __syncwarp();
  if (!__any_sync(kWarp, changes)) return;
  coder.store_samples(b, coder.reconstruct_stored(b, samples));
}

// The result of the search, and how many blocks it has begun. It loads the samples above and to the right
// with the second one.
struct Intra8x8Found {
  core::IntraNxNResult result;
  int blocks = 0;
};

// Leaves its result in the warp's state. stop as in search_intra4x4_by_satd; stop.settled(cost) and
// stop.excluded() wait until their answers do not change any more. `rate` is not used where SATD decides.
template <bool kRd, bool kRdoq, class Lists, class Workspace, class MacroblockMarks, class Stop>
__device__ Intra8x8Found search_intra8x8(WarpState<kRd>& s, const SearchConstants& constants,
                                         const WarpRate& rate, const LaneIndices& lane,
                                         const HadamardMatrix& matrix, const Lists& lists,
                                         const MacroblockPosition& position, const Workspace& workspace,
                                         const MacroblockMarks& marks, const Stop& stop) {
  Intra8x8Found found;
  core::IntraNxNResult& result = found.result;
  if (!Stop::kWaits && stop.excluded()) return found;
  Coder8x8<kRd> coder(s, workspace.space, workspace.tables.quantisation, constants.qp, lane.lane);
  lists.weigh(coder.quantiser, constants.qp, coder.lane);
  __syncwarp();
#pragma unroll 1
  for (int block = 0; block < 4; ++block) {
    found.blocks = block + 1;
    if (block == 1) workspace.above_right.load(s, lane);
    const unsigned asked = stop.ask();
    const Block8x8 b = begin_block8x8(s, workspace.space, lane, position, block);
    const core::SatdRank rank =
        rank_modes8x8(s, constants, workspace.space, workspace.tables, lane, matrix, b);
    const core::SatdRank best = warp_min(rank);
    result.satd_cost += core::cost_of_rank(best);
    if (Stop::kWaits && block == 0 && stop.excluded()) return found;
    if (stop(result.satd_cost, asked)) return found;
    if constexpr (kRd) {
      if (lane.lane == 0) workspace.space.satd_after[block] = result.satd_cost;
    }
    Samples8x8 samples;
    coder.load_source(b, samples);
    Chosen8x8 chosen{core::mode_of_rank(best), 0};
    Coded8x8 coded{};
    if constexpr (kRd) {
      chosen = choose_mode8x8<kRdoq>(coder, constants, rate, lane, b, rank, samples, coded);
      result.cost += chosen.cost;
    } else {
      coder.load_prediction(b, chosen.mode, samples);
      coded = coder.code(samples, s.levels[b.slot()]);
    }
    if constexpr (kRdoq) {
      coder.store_samples(b, coded);  // the counts are there
    } else {
      coder.store(lane, b, coded);
    }
    if (lane.lane < 4) s.modes.cells[b.grid_of(lane.lane)] = static_cast<std::int8_t>(chosen.mode);
    __syncwarp();
    if constexpr (MacroblockMarks::kAny) {
      mark_block8x8(coder, lane, marks, b, samples);
      __syncwarp();
      coded.counts = coder.stored_counts(b);
    }
    result.mode_bits += constants.rate().intra4x4_mode_bits(chosen.mode, b.predicted_mode);
    if (coded.counts != 0) result.pattern |= 1 << block;
  }
  if (stop.settled(result.satd_cost)) return found;
  if constexpr (kRd) {
    for (int i = 0; i < 3; ++i) result.satd_after[i] = uniform(workspace.space.satd_after[i]);
  }
  result.kept = true;
  return found;
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
