// Chroma's mode and pattern. Decides as encoder/cpu/chroma_search_inl.h does.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "encoder/cuda/candidates.cuh"
#include "encoder/cuda/chroma.cuh"

namespace cu264::encoder::cuda {

// A lane's four samples of the prediction with `mode`, which it also writes to `out`.
template <bool kRd>
__device__ std::uint32_t predict_chroma(const WarpState<kRd>& s, const LanePlace& lane, const Place& place,
                                        const core::PlanePrediction& plane, int mode, std::uint8_t* out) {
  const std::uint32_t row = chroma_row(s, lane, place, plane, mode);
  __syncwarp();  // the candidate before may still be read
  *reinterpret_cast<std::uint32_t*>(out + chroma_row_offset(lane)) = row;
  __syncwarp();
  return row;
}

struct ChromaChoice {
  int mode;
  int pattern;  // CodedBlockPatternChroma
};

// Leaves the macroblock's levels, counts and, in s.dc, its DC coefficients; the caller reconstructs.
template <bool kRdoq>
__device__ ChromaChoice search_chroma_by_rd(WarpState<true>& s, const SearchConstants& constants,
                                            const LaneConstants& mine, const Place& place,
                                            const core::PlanePrediction& plane, const unsigned (&ranks)[4],
                                            MacroblockResult& result) {
  const LanePlace& lane = mine.place;
  ChromaChoice choice{};
  std::int64_t best = INT64_MAX;
  const int candidates = candidates_of(constants, ranks);
#pragma unroll 1
  for (int i = 0; i < candidates + kRdoq; ++i) {
    // RDOQ goes to the chosen mode.
    const bool by_rdoq = i == candidates;
    if (by_rdoq) best = INT64_MAX;
    const int tried = by_rdoq ? choice.mode : mode_of(ranks, i);
    std::uint8_t* const prediction = &s.rd.prediction[0][0];
    const std::uint32_t row = predict_chroma(s, lane, place, plane, tried, prediction);
    ChromaCoder<true, kRdoq> coder{
        s, constants, lane, {mine.lengths}, mine.chroma, prediction, s.rd.trial_levels, s.rd.trial_counts};
    quantise<kRdoq>(coder, by_rdoq);
    const int coded = coder.pattern(), mode_bits = constants.rate.chroma_mode_bits(tried);
    const int dc_bits = warp_sum(coder.dc_bits), ac_bits = warp_sum(coder.ac_bits);
    bool better = false;
#pragma unroll 1
    for (int p = coded; p >= 0; --p) {
      const int error = warp_sum(p == 2 ? coder.reconstruct_with_ac(nullptr) : coder.flat_error(p == 1, row));
      const std::int64_t bits =
          mode_bits + constants.rate.chroma_pattern_bits(p) + (p > 0 ? dc_bits : 0) + (p == 2 ? ac_bits : 0);
      // Between patterns of a mode the higher wins a tie, between modes the lower.
      const std::int64_t rank = core::ranked(core::rd_cost(error, bits, constants.rd_lambda), tried);
      if (rank < best) {
        best = rank;
        choice = {tried, p};
        better = true;
      }
    }
    if (better) keep_trial(s, lane, 10);
    __syncwarp();
  }
  result.cost = core::cost_of_rank(best);
  take_best(s, lane, core::kSlotChromaDc, 10);
  return choice;
}

template <bool kRd, bool kRdoq>
__device__ void search_chroma(WarpState<kRd>& s, const SearchConstants& constants, const LaneConstants& mine,
                              const Place& place, int slopes, MacroblockResult& result) {
  const LanePlace& lane = mine.place;
  const core::PlanePrediction plane = measure_chroma_plane(s, lane, slopes);
  unsigned ranks[core::kIntraChromaModes];
  rank_chroma(s, constants, lane, mine.matrix, place, plane, ranks);
  sort_ranks(ranks);
  ChromaChoice choice{static_cast<int>(ranks[0] & 15), 0};
  if constexpr (kRd) {
    choice = search_chroma_by_rd<kRdoq>(s, constants, mine, place, plane, ranks, result);
  }

  std::uint8_t* const samples = &s.chroma_out[0][0][0];
  const std::uint32_t row = predict_chroma(s, lane, place, plane, choice.mode, samples);
  ChromaCoder<kRd, kRdoq> coder{s,
                                constants,
                                lane,
                                {mine.lengths},
                                mine.chroma,
                                samples,
                                s.levels + core::kSlotChromaDc,
                                s.counts + core::kSlotChromaDc};
  if constexpr (!kRd) {
    coder.quantise();
    choice.pattern = coder.pattern();
  }
  coder.reconstruct(choice.pattern, row, samples);

  // What the pattern leaves out counts as zero.
  if (lane.lane < 8) {
    if (choice.pattern < 2) s.counts[core::kSlotChromaAc + lane.lane] = 0;
    s.chroma_counts[lane.lane >> 2].at(lane.lane & 1, (lane.lane >> 1) & 1) =
        choice.pattern < 2 ? 0 : static_cast<std::int8_t>(s.counts[core::kSlotChromaAc + lane.lane]);
  } else if (lane.lane < 10 && choice.pattern < 1) {
    s.counts[core::kSlotChromaDc + lane.lane - 8] = 0;
  }
  result.record.intra_chroma_pred_mode = static_cast<std::uint8_t>(choice.mode);
  result.record.coded_block_pattern = static_cast<std::uint8_t>(choice.pattern << 4);
  __syncwarp();
}

}  // namespace cu264::encoder::cuda
