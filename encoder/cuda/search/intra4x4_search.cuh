// The search of Intra_4x4 on one warp, by SATD or by rate and distortion.
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/luma_decision.h"
#include "encoder/cuda/search/intra4x4.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/marks.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// stop(cost by SATD so far, stop.ask()) says whether the search is abandoned. Its answer for the same cost
// may change during the search.
template <bool kRd, class AboveRight, class Quantiser, class MacroblockMarks, class Stop>
__device__ core::IntraNxNResult search_intra4x4_by_satd(
    WarpState<kRd>& s, const SearchConstants& constants, const LaneIndices& lane, const Intra4x4Lane& mine,
    const HadamardMatrix& matrix, const Quantiser& quantiser, const MacroblockPosition& position,
    const AboveRight& above_right, const MacroblockMarks& marks, Stop stop) {
  core::IntraNxNResult result;
  HalfTally tally;
  const unsigned neighbours = neighbour_bits(position);
#pragma unroll 1
  for (int step = 0; step < kIntra4x4Steps; ++step) {
    const unsigned asked = stop.ask();
    above_right.load_for(s, lane, step);
    const HalfBlock block = begin_step<AboveRight::kAny>(s, lane, mine, neighbours, step);
    const PredictedRows rows = {predicted_row(s.line[0].values(), mine.sources),
                                predicted_row(s.line[1].values(), mine.sources)};
    const unsigned best = rank_modes(s, constants, lane, mine, matrix, block, rows).best();
    const unsigned first = __shfl_sync(kWarp, best, kFirstRankingLane);
    const unsigned second = __shfl_sync(kWarp, best, kSecondRankingLane);
    result.satd_cost += core::cost_of_rank(first);
    if (!block.second.idle()) result.satd_cost += core::cost_of_rank(second);
    if (stop(result.satd_cost, asked)) return result;

    const int mode = core::mode_of_rank(lane.half == 0 ? first : second);
    const int prediction = sample_of_rows(lane, rows, mode, block.dc);
    const int coefficient =
        forward_transform(lane, (&s.luma[lane.y][lane.x])[block.own.source()] - prediction);
    int level = signed_level(quantiser, coefficient);
    if constexpr (MacroblockMarks::kAny) {
      if (marks.any_in(block.own.block())) level = marked_level(lane, marks, block.own.block(), level);
    }
    int residual = 0;
    if (__any_sync(kWarp, level != 0)) residual = inverse_transform(lane, dequantised(quantiser, level));
    finish_step(s, constants, lane, block, mode, level, core::clip_sample(prediction + residual, 8), tally);
  }
  tally.finish(result);
  return result;
}

// The level and the sample at a lane's position, and the cost of the whole block.
struct CodedHalf {
  int level;
  int sample;
  std::uint32_t cost;  // the same in all lanes of the half
};

// Reconstructs the half's block from its levels and computes its cost. bits_share: the lane's share of its
// bits.
template <class Quantiser>
__device__ CodedHalf weigh_block(const SearchConstants& constants, const WarpRate& rate,
                                 const LaneIndices& lane, const Quantiser& quantiser, const HalfBlock& block,
                                 int mode, int prediction, int source, int level, int bits_share) {
  CodedHalf coded;
  coded.level = level;
  coded.sample = core::clip_sample(prediction + inverse_transform(lane, dequantised(quantiser, level)), 8);
  const int block_bits = half_sum_of_small(lane, bits_share);
  const int squared_error = half_sum(lane, (source - coded.sample) * (source - coded.sample));
  coded.cost = core::intra_nxn_block_cost<SearchRate>(
      squared_error, rate.intra4x4_mode_bits(mode, block.predicted_mode), block_bits, constants.rd_lambda);
  return coded;
}

template <bool kRdoq, class AboveRight, class Quantiser, class MacroblockMarks, class Stop>
__device__ core::IntraNxNResult search_intra4x4_by_rd(WarpState<true>& s, const SearchConstants& constants,
                                                      const WarpRate& rate, const LaneIndices& lane,
                                                      const Intra4x4Lane& mine, const HadamardMatrix& matrix,
                                                      const Quantiser& quantiser,
                                                      const MacroblockPosition& position,
                                                      const AboveRight& above_right,
                                                      const MacroblockMarks& marks, Stop stop) {
  core::IntraNxNResult result;
  HalfTally tally;
  QuarterCost quarter;  // where the stream has Intra_8x8
  const unsigned neighbours = neighbour_bits(position);
#pragma unroll 1
  for (int step = 0; step < kIntra4x4Steps; ++step) {
    const unsigned asked = stop.ask();
    above_right.load_for(s, lane, step);
    const HalfBlock block = begin_step<AboveRight::kAny>(s, lane, mine, neighbours, step);
    const PredictedRows rows = {predicted_row(s.line[0].values(), mine.sources),
                                predicted_row(s.line[1].values(), mine.sources)};
    ModeRanks ranks = rank_modes(s, constants, lane, mine, matrix, block, rows);
    const int source = (&s.luma[lane.y][lane.x])[block.own.source()];
    const std::int8_t* const counts = s.luma_counts.cells + block.own.grid();
    const int context = rate.block_context(counts[-1], counts[-BlockGrid<4>::kPitch]);

    // Each pass tries one candidate in each half.
    unsigned least_cost = 0;
    int chosen_mode = core::BestTwo::kNoMode;
    CodedHalf chosen{0, 0, UINT32_MAX};
    core::BestTwo best;  // where the preset has RDOQ
#pragma unroll 1
    for (int tried = 0; tried < constants.search.rd_candidates; ++tried) {
      const unsigned next = ranks.best();
      ranks.remove(next);
      const unsigned of_half = __shfl_sync(kWarp, next, ranking_lane(lane));
      if (tried == 0) {
        least_cost = core::cost_of_rank(of_half);
        const unsigned first_cost = __shfl_sync(kWarp, least_cost, 0);
        unsigned second_cost = __shfl_sync(kWarp, least_cost, 16);
        if (block.second.idle()) second_cost = 0;
        result.satd_cost += first_cost + second_cost;
        if (stop(result.satd_cost, asked)) return result;
        if constexpr (AboveRight::kAny) {
          if (quarter.reaches_limit(stop.rule, step, result.satd_cost, second_cost)) return result;
        }
      }
      const bool is_candidate =
          of_half != core::kNoRank &&
          core::is_worth_trial(core::cost_of_rank(of_half), least_cost, constants.search.worth_intra4x4);
      if (!__any_sync(kWarp, is_candidate)) break;
      const int mode = is_candidate ? core::mode_of_rank(of_half) : static_cast<int>(core::kIntra4x4Dc);
      const int prediction = sample_of_rows(lane, rows, mode, block.dc);
      const int level = signed_level(quantiser, forward_transform(lane, source - prediction));
      const int in_order = __shfl_sync(kWarp, level, 16 * lane.half + lane.raster);
      const CodedHalf coded =
          weigh_block(constants, rate, lane, quantiser, block, mode, prediction, source, level,
                      rate.share(lane, in_order, core::BlockCategory::luma_4x4, context));
      if constexpr (kRdoq) {
        if (is_candidate) best.take(coded.cost, mode);
      } else {
        const bool better = core::precedes(coded.cost, mode, chosen.cost, chosen_mode);
        if (is_candidate && better) chosen = coded, chosen_mode = mode;
      }
    }

    if constexpr (kRdoq) {
      // Where only one half has two candidates, the other computes its own once more.
      const bool has_two = best.are_close() && !block.own.idle();
#pragma unroll 1
      for (int i = 0; i < 1 + __any_sync(kWarp, has_two); ++i) {
        const int mode = i > 0 && has_two ? best.mode[1] : best.mode[0];
        const int prediction = sample_of_rows(lane, rows, mode, block.dc);
        const int scaled = forward_transform(lane, source - prediction) * quantiser.multiplier;
        const int in_order = __shfl_sync(kWarp, scaled, 16 * lane.half + lane.raster);
        const RdoqLevel by_rdoq =
            choose_level_by_rdoq(s.rd.variants, rate, lane, abs(in_order), in_order < 0,
                                 core::BlockCategory::luma_4x4, quantiser.shift, context, !block.own.idle());
        const CodedHalf coded =
            weigh_block(constants, rate, lane, quantiser, block, mode, prediction, source,
                        __shfl_sync(kWarp, by_rdoq.level, 16 * lane.half + lane.coding), by_rdoq.share);
        if (core::precedes(coded.cost, mode, chosen.cost, chosen_mode)) chosen = coded, chosen_mode = mode;
      }
    }
    const int mode = chosen_mode;
    if (!block.own.idle()) tally.cost += chosen.cost;
    if constexpr (MacroblockMarks::kAny) {
      if (marks.any_in(block.own.block())) {
        const int level = marked_level(lane, marks, block.own.block(), chosen.level);
        if (__any_sync(kWarp, level != chosen.level)) {
          const int prediction = sample_of_rows(lane, rows, mode, block.dc);
          chosen.level = level;
          chosen.sample =
              core::clip_sample(prediction + inverse_transform(lane, dequantised(quantiser, level)), 8);
        }
      }
    }
    finish_step(s, constants, lane, block, mode, chosen.level, chosen.sample, tally);
  }
  tally.finish(result);
  return result;
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
