// Chooses the best of Intra_16x16, Intra_8x8 and Intra_4x4 on one warp: the operations that
// core/luma_decision.h calls.
#pragma once

#include <cstdint>

#include "core/luma_decision.h"
#include "encoder/cuda/search/candidates.cuh"
#include "encoder/cuda/search/intra16x16.cuh"
#include "encoder/cuda/search/intra4x4_search.cuh"
#include "encoder/cuda/search/intra8x8.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

template <bool kRd>
__device__ void take_intra16x16(WarpState<kRd>& s, const LaneIndices& lane, MacroblockResult& result,
                                int mode, bool with_ac) {
  result.record.kind = core::MacroblockKind::intra16x16;
  result.record.intra16x16_pred_mode = static_cast<std::uint8_t>(mode);
  if (with_ac) result.record.coded_block_pattern |= 15;
  if (lane.lane < 16) {
    const int count = with_ac ? s.counts[core::kSlotLuma + lane.lane] : 0;
    s.counts[core::kSlotLuma + lane.lane] = static_cast<std::uint8_t>(count);
    s.luma_counts.at(core::luma_block_x(lane.lane), core::luma_block_y(lane.lane)) =
        static_cast<std::int8_t>(count);
    s.modes.at(lane.lane & 3, lane.lane >> 2) = core::kIntra4x4Dc;
  }
  __syncwarp();
}

// What is known about Intra_16x16 before Intra_4x4 is tried. The bits of its modes depend on the chroma
// pattern, which another warp may still be searching for.
struct LumaStart {
  Intra16x16Neighbours neighbours;
  int satd;  // of the Intra_16x16 mode with the lane's number
};

// An upper bound of the cost by SATD of the best Intra_16x16 mode, for a chroma pattern in first..last.
__device__ inline unsigned highest_intra16x16_cost(const SearchConstants& constants, const LaneIndices& lane,
                                                   const MacroblockPosition& position, int satd, int first,
                                                   int last) {
  unsigned highest = 0;
  for (int pattern = first; pattern <= last; ++pattern) {
    highest =
        max(highest, core::cost_of_rank(warp_min(rank_intra16x16(constants, lane, position, satd, pattern))));
  }
  return highest;
}

// Decides whether Intra_4x4 or Intra_8x8 is abandoned. That may depend on another warp, whose result is
// requested before the cost is known.
template <class Rule, class SideSearch>
struct IntraNxNEnd {
  const Rule& rule;
  const SideSearch& side_search;
  __device__ unsigned ask() const { return side_search.ask_highest_cost(); }
  __device__ bool operator()(unsigned cost, unsigned asked) const {
    return rule(cost, side_search.highest_cost(asked));
  }
  // Waits for what it depends on.
  __device__ bool settled(unsigned cost) const { return rule(cost, side_search.settled_highest_cost()); }
  __device__ bool excluded() const { return rule.excludes(side_search.settled_highest_cost()); }
  static constexpr bool kWaits = SideSearch::kWaits;  // whether they may wait at all
};

// The same warp has already searched chroma and measured Intra_16x16 as far as LumaStart.
template <class MacroblockMarks>
struct SideSearchDone {
  unsigned intra16x16_cost;
  MacroblockMarks marks;
  static constexpr bool kWaits = false;
  __device__ unsigned ask_highest_cost() const { return intra16x16_cost; }
  __device__ unsigned highest_cost(unsigned asked) const { return asked; }
  __device__ unsigned settled_highest_cost() const { return intra16x16_cost; }
  __device__ void join(const LaneIndices&, LumaStart&, MacroblockResult&) const {}
};

// One of core::choose_mode's trials: the levels of a mode, and their bits.
template <bool kRdoq, class Quantiser>
struct Intra16x16Trial {
  Intra16x16Coder<true, kRdoq, Quantiser> coder;
  int mode;
  int chroma_pattern;
  int dc_bits;
  int ac_bits;

  __device__ int highest_pattern() const { return coder.has_ac(); }
  __device__ int squared_error(int with_ac) {
    return warp_sum(with_ac ? coder.reconstruct_with_ac(nullptr, 0) : coder.flat_error());
  }
  __device__ std::int64_t bits(int with_ac) const {
    return core::intra16x16_bits(coder.rate, mode, with_ac, chroma_pattern, dc_bits, ac_bits);
  }
};

// The trials of the Intra_16x16 modes. They overwrite luma_counts.
template <bool kRdoq, class Lists>
struct Intra16x16Trials {
  using Trial = Intra16x16Trial<kRdoq, typename Lists::Luma>;
  WarpState<true>& s;
  const SearchConstants& constants;
  const LaneConstants<Lists>& mine;
  const Intra16x16Neighbours& neighbours;
  int chroma_pattern;

  static constexpr __device__ bool rdoq() { return kRdoq; }
  __device__ std::int64_t cost(int squared_error, std::int64_t bits) const {
    return core::rd_cost<SearchRate>(squared_error, bits, constants.rd_lambda);
  }
  __device__ Trial code(int mode, bool by_rdoq) {
    std::uint8_t* const prediction = &s.rd.prediction[0][0];
    predict_intra16x16(s, mine.lane, neighbours, mode, prediction, 16);
    decltype(Trial::coder) coder{s,
                                 constants,
                                 mine.lane,
                                 rate_on_warp(constants.rate(), mine.rate_tables),
                                 mine.luma,
                                 prediction,
                                 16,
                                 s.rd.trial_levels,
                                 s.rd.trial_counts};
    quantise<kRdoq>(coder, by_rdoq);
    const int dc_bits = warp_sum(coder.dc_bits), ac_bits = warp_sum(coder.ac_bits);
    return {coder, mode, chroma_pattern, dc_bits, ac_bits};
  }
  __device__ void keep(const Trial&, int) {
    keep_trial(s, mine.lane, 17);
    __syncwarp();
  }
};

// The search of luma in the steps of core/luma_decision.h.
template <bool kRd, bool kRdoq, class Lists, class SideSearch, class Warps, class Workspace>
struct LumaSearch {
  using Coder16x16 = Intra16x16Coder<kRd, kRdoq, typename Lists::Luma>;
  WarpState<kRd>& s;
  const SearchConstants& constants;
  const LaneConstants<Lists>& mine;
  const MacroblockPosition& position;
  LumaStart start;
  SideSearch side_search;
  const Warps& warps;
  const Workspace& workspace;
  MacroblockResult& result;
  bool has_above_right = false;  // whether search_intra8x8 has loaded these samples
  // They tell whether the result of search_intra8x8 counts, and whether search_intra4x4 has moved it out of
  // the warp's state to workspace.space.
  bool has_large = false, large_moved = false;
  static constexpr bool kHasIntra8x8 = Workspace::kAny;

  __device__ SearchRate rate() const { return constants.rate(); }
  __device__ int satd_lambda() const { return constants.satd_lambda; }
  __device__ int rd_lambda() const { return constants.rd_lambda; }
  __device__ int chroma_pattern() const { return result.record.coded_block_pattern >> 4; }
  __device__ core::EarlyDecision early_decision() const { return constants.search.early_decision; }

  static constexpr __device__ bool transform_8x8_mode() { return kHasIntra8x8; }
  __device__ const core::SizeRules& size_rules() const { return constants.search.sizes; }
  __device__ core::SourceActivity activity() const {
    return {uniform(s.activity.by4x4), uniform(s.activity.by8x8)};
  }

  template <class Stop>
  __device__ core::IntraNxNResult search_intra8x8(Stop stop) {
    const IntraNxNEnd<Stop, SideSearch> end{stop, side_search};
    const auto found = cuda::search_intra8x8<kRd, kRdoq>(
        s, constants, rate_on_warp(constants.rate(), mine.rate_tables), mine.lane, mine.matrix, mine.lists,
        position, workspace, side_search.marks, end);
    if constexpr (kRd) warps.meet();
    has_above_right = found.blocks > 1;
    has_large = found.result.kept;
    return found.result;
  }

  template <class Stop>
  __device__ core::IntraNxNResult search_intra4x4(Stop stop) {
    const IntraNxNEnd<Stop, SideSearch> end{stop, side_search};
    core::IntraNxNResult found;
    if constexpr (kHasIntra8x8) {
      if (end.excluded()) {
        side_search.join(mine.lane, start, result);
        return found;
      }
      if (has_large) {
        keep_intra8x8(s, workspace.space, mine.lane);
        large_moved = true;
      }
      found = search_intra4x4(end, AboveRightSamples{workspace.above_right, has_above_right});
    } else {
      found = search_intra4x4(end, NoAboveRightSamples{});
    }
    side_search.join(mine.lane, start, result);
    return found;
  }

  __device__ void rank_intra16x16(core::SatdRank (&ranks)[core::kIntra16x16Modes]) const {
    const core::SatdRank rank =
        cuda::rank_intra16x16(constants, mine.lane, position, start.satd, chroma_pattern());
    for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) ranks[mode] = __shfl_sync(kWarp, rank, mode);
    core::sort_ranks(ranks);
    if constexpr (kRdoq) warps.meet();
  }

  // Leaves the levels, counts and DC coefficients of the best candidate in RdSpace.
  __device__ core::ModeChoice choose_intra16x16(const core::SatdRank (&ranks)[core::kIntra16x16Modes],
                                                std::int64_t cost_to_beat) {
    Intra16x16Trials<kRdoq, Lists> trials{s, constants, mine, start.neighbours, chroma_pattern()};
    const core::ModeChoice choice =
        core::choose_mode(trials, ranks, constants.search.rd_candidates, cost_to_beat);
    __syncwarp();
    return choice;
  }

  __device__ void take_intra4x4(const core::IntraNxNResult& found, std::int64_t cost) {
    restore_counts();
    take_intra_nxn(found, cost, core::MacroblockKind::intra4x4);
  }
  __device__ void take_intra8x8(const core::IntraNxNResult& found, std::int64_t cost) {
    if (large_moved) {
      restore_intra8x8(s, workspace.space, mine.lane);
    } else {
      restore_counts();
    }
    take_intra_nxn(found, cost, core::MacroblockKind::intra8x8);
  }

  __device__ void take_intra16x16(const core::ModeChoice& choice) {
    result.cost += choice.cost;
    take_best(s, mine.lane, core::kSlotLumaDc, 17);
    reconstruct_intra16x16(choice.mode, choice.pattern != 0);
  }

  __device__ void code_intra16x16(int mode, std::int64_t cost) {
    result.cost += cost;
    std::uint8_t* const samples = s.canvas.at(0, 0);
    predict_intra16x16(s, mine.lane, start.neighbours, mode, samples, Canvas::kPitch);
    Coder16x16 coder = coder_of(samples);
    coder.quantise();
    finish_intra16x16(coder, mode, coder.has_ac());
  }

 private:
  template <class End, class AboveRight>
  __device__ core::IntraNxNResult search_intra4x4(const End& end, const AboveRight& above_right) {
    if constexpr (kRd) {
      return search_intra4x4_by_rd<kRdoq>(s, constants, rate_on_warp(constants.rate(), mine.rate_tables),
                                          mine.lane, mine.intra4x4, mine.matrix, mine.luma, position,
                                          above_right, side_search.marks, end);
    } else {
      return search_intra4x4_by_satd(s, constants, mine.lane, mine.intra4x4, mine.matrix, mine.luma, position,
                                     above_right, side_search.marks, end);
    }
  }
  // Restores the part of a result in the warp's state that the trials of Intra_16x16 overwrote.
  __device__ void restore_counts() {
    if (kRd && mine.lane.lane < 16) {
      s.luma_counts.at(core::luma_block_x(mine.lane.lane), core::luma_block_y(mine.lane.lane)) =
          static_cast<std::int8_t>(s.counts[core::kSlotLuma + mine.lane.lane]);
    }
  }
  __device__ void take_intra_nxn(const core::IntraNxNResult& found, std::int64_t cost,
                                 core::MacroblockKind kind) {
    result.cost += cost;
    result.record.kind = kind;
    result.record.coded_block_pattern |= static_cast<std::uint8_t>(found.pattern);
    result.mode_bits = found.mode_bits;
    if (mine.lane.lane == 0) s.counts[core::kSlotLumaDc] = 0;
    __syncwarp();
  }
  __device__ Coder16x16 coder_of(std::uint8_t* samples) {
    return {s,         constants, mine.lane,      rate_on_warp(constants.rate(), mine.rate_tables),
            mine.luma, samples,   Canvas::kPitch, s.levels,
            s.counts};
  }
  // The canvas must hold the prediction.
  __device__ void finish_intra16x16(Coder16x16& coder, int mode, bool with_ac) {
    if constexpr (decltype(side_search.marks)::kAny) {
      if (with_ac) mark_intra16x16(s, mine.lane, side_search.marks);
    }
    coder.reconstruct(with_ac, s.canvas.at(0, 0), Canvas::kPitch);
    cuda::take_intra16x16(s, mine.lane, result, mode, with_ac);
  }
  __device__ void reconstruct_intra16x16(int mode, bool with_ac) {
    std::uint8_t* const samples = s.canvas.at(0, 0);
    predict_intra16x16(s, mine.lane, start.neighbours, mode, samples, Canvas::kPitch);
    Coder16x16 coder = coder_of(samples);
    finish_intra16x16(coder, mode, with_ac);
  }
};

template <bool kRd, bool kRdoq, class Lists, class SideSearch, class Warps, class Workspace>
__device__ void search_luma(WarpState<kRd>& s, const SearchConstants& constants,
                            const LaneConstants<Lists>& mine, const MacroblockPosition& position,
                            const LumaStart& start, SideSearch side_search, const Warps& warps,
                            const Workspace& workspace, MacroblockResult& result) {
  LumaSearch<kRd, kRdoq, Lists, SideSearch, Warps, Workspace> search{
      s, constants, mine, position, start, side_search, warps, workspace, result};
  if constexpr (kRd) {
    core::decide_luma_by_rd(search);
  } else {
    core::decide_luma_by_satd(search);
  }
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
