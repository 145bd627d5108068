// The choice of the chroma mode and of CodedBlockPatternChroma on one warp.
#pragma once

#include <cstdint>

#include "core/mode_trials.h"
#include "encoder/cuda/search/candidates.cuh"
#include "encoder/cuda/search/chroma.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// Returns a lane's four samples of the prediction with `mode`, and writes them to `out` too.
template <bool kRd>
__device__ std::uint32_t predict_chroma(const WarpState<kRd>& s, const LaneIndices& lane,
                                        const MacroblockPosition& position,
                                        const core::PlanePrediction& plane, int mode, std::uint8_t* out) {
  const std::uint32_t row = chroma_row(s, lane, position, plane, mode);
  __syncwarp();  // other lanes may still be reading the previous candidate
  *reinterpret_cast<std::uint32_t*>(out + chroma_row_offset(lane)) = row;
  __syncwarp();
  return row;
}

// One of core::choose_mode's trials: the levels of a mode, and their bits.
template <bool kRdoq, class Quantiser>
struct ChromaTrial {
  ChromaCoder<true, kRdoq, Quantiser> coder;
  std::uint32_t row;  // chroma_row of this lane
  int mode;
  int dc_bits;
  int ac_bits;

  __device__ int highest_pattern() const { return coder.pattern(); }
  __device__ int squared_error(int pattern) {
    return warp_sum(pattern == 2 ? coder.reconstruct_with_ac(nullptr) : coder.flat_error(pattern == 1, row));
  }
  __device__ std::int64_t bits(int pattern) const {
    return core::chroma_bits(coder.rate, mode, pattern, dc_bits, ac_bits);
  }
};

template <bool kRdoq, class Lists>
struct ChromaTrials {
  using Quantiser = typename Lists::Chroma;
  WarpState<true>& s;
  const SearchConstants& constants;
  const LaneConstants<Lists>& mine;
  const MacroblockPosition& position;
  const core::PlanePrediction& plane;

  static constexpr __device__ bool rdoq() { return kRdoq; }
  __device__ std::int64_t cost(int squared_error, std::int64_t bits) const {
    return core::chroma_rd_cost<SearchRate>(squared_error, bits, constants.rd_lambda,
                                            constants.chroma_error_weight);
  }
  __device__ ChromaTrial<kRdoq, Quantiser> code(int mode, bool by_rdoq) {
    std::uint8_t* const prediction = &s.rd.prediction[0][0];
    const std::uint32_t row = predict_chroma(s, mine.lane, position, plane, mode, prediction);
    ChromaCoder<true, kRdoq, Quantiser> coder{
        s,           constants,  mine.lane,         rate_on_warp(constants.rate(), mine.rate_tables),
        mine.chroma, prediction, s.rd.trial_levels, s.rd.trial_counts};
    quantise<kRdoq>(coder, by_rdoq);
    const int dc_bits = warp_sum(coder.dc_bits), ac_bits = warp_sum(coder.ac_bits);
    return {coder, row, mode, dc_bits, ac_bits};
  }
  __device__ void keep(const ChromaTrial<kRdoq, Quantiser>&, int) {
    keep_trial(s, mine.lane, 10);
    __syncwarp();
  }
};

// Writes the macroblock's levels, its counts and, to s.dc, its DC coefficients; the caller reconstructs.
template <bool kRdoq, class Lists>
__device__ core::ModeChoice search_chroma_by_rd(WarpState<true>& s, const SearchConstants& constants,
                                                const LaneConstants<Lists>& mine,
                                                const MacroblockPosition& position,
                                                const core::PlanePrediction& plane,
                                                const core::SatdRank (&ranks)[4]) {
  ChromaTrials<kRdoq, Lists> trials{s, constants, mine, position, plane};
  const core::ModeChoice choice =
      core::choose_mode(trials, ranks, constants.search.rd_candidates, core::kNothingToBeat);
  __syncwarp();
  take_best(s, mine.lane, core::kSlotChromaDc, 10);
  return choice;
}

// Blocks that CodedBlockPatternChroma `pattern` leaves out have a count of zero.
template <bool kRd>
__device__ void clear_left_out_chroma(WarpState<kRd>& s, const LaneIndices& lane, int pattern) {
  if (lane.lane < 8) {
    if (pattern < 2) s.counts[core::kSlotChromaAc + lane.lane] = 0;
    s.chroma_counts[lane.lane >> 2].at(lane.lane & 1, (lane.lane >> 1) & 1) =
        pattern < 2 ? 0 : static_cast<std::int8_t>(s.counts[core::kSlotChromaAc + lane.lane]);
  } else if (lane.lane < 10 && pattern < 1) {
    s.counts[core::kSlotChromaDc + lane.lane - 8] = 0;
  }
}

template <bool kRd, bool kRdoq, class Lists>
__device__ void search_chroma(WarpState<kRd>& s, const SearchConstants& constants,
                              const LaneConstants<Lists>& mine, const MacroblockPosition& position,
                              int slopes, MacroblockResult& result) {
  const LaneIndices& lane = mine.lane;
  const core::PlanePrediction plane = measure_chroma_plane(s, lane, slopes);
  core::SatdRank ranks[core::kIntraChromaModes];
  rank_chroma(s, constants, lane, mine.matrix, position, plane, ranks);
  core::ModeChoice choice{core::mode_of_rank(ranks[0])};
  if constexpr (kRd) {
    choice = search_chroma_by_rd<kRdoq>(s, constants, mine, position, plane, ranks);
    result.cost = choice.cost;
  }

  std::uint8_t* const samples = &s.chroma_out[0][0][0];
  const std::uint32_t row = predict_chroma(s, lane, position, plane, choice.mode, samples);
  ChromaCoder<kRd, kRdoq, typename Lists::Chroma> coder{s,
                                                        constants,
                                                        lane,
                                                        rate_on_warp(constants.rate(), mine.rate_tables),
                                                        mine.chroma,
                                                        samples,
                                                        s.levels + core::kSlotChromaDc,
                                                        s.counts + core::kSlotChromaDc};
  if constexpr (!kRd) {
    coder.quantise();
    choice.pattern = coder.pattern();
  }
  coder.reconstruct(choice.pattern, row, samples);

  clear_left_out_chroma(s, lane, choice.pattern);
  result.record.intra_chroma_pred_mode = static_cast<std::uint8_t>(choice.mode);
  result.record.coded_block_pattern = static_cast<std::uint8_t>(choice.pattern << 4);
  __syncwarp();
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
