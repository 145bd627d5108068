// The better of Intra_16x16 and Intra_4x4. Decides as encoder/cpu/macroblock_search_inl.h does.
#pragma once

#include <cstdint>

#include "core/mb_syntax.h"
#include "encoder/cuda/candidates.cuh"
#include "encoder/cuda/intra16x16.cuh"
#include "encoder/cuda/intra4x4.cuh"

namespace cu264::encoder::cuda {

template <bool kRd>
__device__ void take_intra16x16(WarpState<kRd>& s, const LanePlace& lane, MacroblockResult& result, int mode,
                                bool with_ac) {
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

template <bool kRd>
__device__ void take_intra4x4(WarpState<kRd>& s, const LanePlace& lane, MacroblockResult& result,
                              const Intra4x4Result& found) {
  result.record.kind = core::MacroblockKind::intra4x4;
  result.record.coded_block_pattern |= static_cast<std::uint8_t>(found.pattern);
  result.mode_bits = found.mode_bits;
  if (lane.lane == 0) s.counts[core::kSlotLumaDc] = 0;
  __syncwarp();
}

// Where Intra_16x16 stands before Intra_4x4 is tried. Its modes' bits depend on chroma's pattern, which
// another warp may still be searching for.
struct LumaStart {
  Intra16x16Neighbours neighbours;
  int satd;  // of Intra_16x16's mode `lane`
};

// The cost of the best Intra_16x16 mode by SATD, chroma's pattern being one of first .. last: the highest
// that it may be.
__device__ inline unsigned highest_intra16x16_cost(const SearchConstants& constants, const LanePlace& lane,
                                                   const Place& place, int satd, int first, int last) {
  unsigned highest = 0;
  for (int pattern = first; pattern <= last; ++pattern) {
    highest = max(highest, warp_min(rank_intra16x16(constants, lane, place, satd, pattern)) >> 4);
  }
  return highest;
}

// Chroma, and Intra_16x16 as far as LumaStart, came before, in the same warp.
template <class MacroblockMarks>
struct Prepared {
  unsigned intra16x16_cost;
  MacroblockMarks marks;
  __device__ unsigned highest_cost() const { return intra16x16_cost; }
  __device__ void join(const LanePlace&, LumaStart&, MacroblockResult&) const {}
};

// Ranks of the modes, sorted, the same in all lanes.
__device__ inline void rank_intra16x16_modes(const SearchConstants& constants, const LaneConstants& mine,
                                             const Place& place, const LumaStart& start,
                                             const MacroblockResult& result, unsigned (&ranks)[4]) {
  const unsigned rank =
      rank_intra16x16(constants, mine.place, place, start.satd, result.record.coded_block_pattern >> 4);
  for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) ranks[mode] = __shfl_sync(kWarp, rank, mode);
  sort_ranks(ranks);
}

template <class Preparation>
__device__ void search_luma_by_satd(WarpState<false>& s, const SearchConstants& constants,
                                    const LaneConstants& mine, const Place& place, LumaStart start,
                                    Preparation preparation, MacroblockResult& result) {
  const LanePlace& lane = mine.place;
  const Intra4x4Result found =
      search_intra4x4_by_satd(s, constants, lane, mine.intra4x4, mine.matrix, mine.luma, place,
                              preparation.marks, [&] { return preparation.highest_cost(); });
  preparation.join(lane, start, result);
  unsigned ranks[core::kIntra16x16Modes];
  rank_intra16x16_modes(constants, mine, place, start, result, ranks);
  const int chroma_pattern = result.record.coded_block_pattern >> 4;
  if (found.kept && found.satd_cost + constants.satd_lambda *
                                          constants.rate.intra4x4_header_bits(found.pattern, chroma_pattern) <
                        ranks[0] >> 4) {
    take_intra4x4(s, lane, result, found);
    return;
  }
  const int mode = static_cast<int>(ranks[0] & 15);
  std::uint8_t* const samples = s.canvas.at(0, 0);
  predict_intra16x16(s, lane, start.neighbours, mode, samples, Canvas::kPitch);
  Intra16x16Coder<false, false> coder{s,       constants,      lane,     {mine.lengths}, mine.luma,
                                      samples, Canvas::kPitch, s.levels, s.counts};
  coder.quantise();
  const bool with_ac = coder.has_ac();
  if constexpr (decltype(preparation.marks)::kAny) {
    if (with_ac) mark_intra16x16(s, lane, preparation.marks);
  }
  coder.reconstruct(with_ac, samples, Canvas::kPitch);
  take_intra16x16(s, lane, result, mode, with_ac);
}

struct Intra16x16Choice {
  int mode;
  bool with_ac;
  std::int64_t cost;
};

// Leaves the best candidate's levels, counts and DC coefficients in the work space. Overwrites luma_counts.
// cost4x4: what there is to beat; INT64_MAX: nothing.
template <bool kRdoq>
__device__ Intra16x16Choice search_intra16x16_by_rd(WarpState<true>& s, const SearchConstants& constants,
                                                    const LaneConstants& mine,
                                                    const Intra16x16Neighbours& neighbours,
                                                    const unsigned (&ranks)[4], int chroma_pattern,
                                                    std::int64_t cost4x4) {
  const LanePlace& lane = mine.place;
  Intra16x16Choice choice{};
  std::int64_t best = INT64_MAX;
  const int candidates = candidates_of(constants, ranks);
#pragma unroll 1
  for (int i = 0; i < candidates + kRdoq; ++i) {
    // RDOQ goes to the chosen mode.
    const bool by_rdoq = i == candidates;
    if (by_rdoq && cost4x4 != INT64_MAX && 16 * core::cost_of_rank(best) > cost4x4 * kWorthRdoq) break;
    if (by_rdoq) best = INT64_MAX;
    const int tried = by_rdoq ? choice.mode : mode_of(ranks, i);
    std::uint8_t* const prediction = &s.rd.prediction[0][0];
    predict_intra16x16(s, lane, neighbours, tried, prediction, 16);
    Intra16x16Coder<true, kRdoq> coder{
        s, constants, lane, {mine.lengths}, mine.luma, prediction, 16, s.rd.trial_levels, s.rd.trial_counts};
    quantise<kRdoq>(coder, by_rdoq);
    const bool any_ac = coder.has_ac();
    const int dc_bits = warp_sum(coder.dc_bits), ac_bits = warp_sum(coder.ac_bits);
    bool better = false;
#pragma unroll 1
    for (int with_ac = any_ac; with_ac >= 0; --with_ac) {
      const int error = warp_sum(with_ac ? coder.reconstruct_with_ac(nullptr, 0) : coder.flat_error());
      const std::int64_t bits =
          dc_bits + (with_ac ? ac_bits : 0) +
          constants.rate.intra16x16_header_bits(tried, with_ac ? 15 : 0, chroma_pattern);
      const std::int64_t rank = core::ranked(core::rd_cost(error, bits, constants.rd_lambda), tried);
      if (rank < best) {
        best = rank;
        choice.mode = tried;
        choice.with_ac = with_ac != 0;
        better = true;
      }
    }
    if (better) keep_trial(s, lane, 17);
    __syncwarp();
  }
  choice.cost = core::cost_of_rank(best);
  return choice;
}

// Intra_4x4 unless SATD speaks for Intra_16x16, then Intra_16x16 unless SATD speaks against it.
template <bool kRdoq, class Preparation>
__device__ void search_luma_by_rd(WarpState<true>& s, const SearchConstants& constants,
                                  const LaneConstants& mine, const Place& place, LumaStart start,
                                  Preparation preparation, MacroblockResult& result) {
  const LanePlace& lane = mine.place;
  Intra4x4Result found = search_intra4x4_by_rd<kRdoq>(
      s, constants, {mine.lengths}, lane, mine.intra4x4, mine.matrix, mine.luma, place, preparation.marks,
      [&] { return preparation.highest_cost() * kStopIntra4x4 / 16; });
  preparation.join(lane, start, result);
  unsigned ranks[core::kIntra16x16Modes];
  rank_intra16x16_modes(constants, mine, place, start, result, ranks);
  const int chroma_pattern = result.record.coded_block_pattern >> 4;
  const unsigned satd = ranks[0] >> 4;
  found.kept = found.kept && found.satd_cost < satd * kStopIntra4x4 / 16;
  const std::int64_t cost4x4 =
      found.cost + core::rd_cost(0, constants.rate.intra4x4_header_bits(found.pattern, chroma_pattern),
                                 constants.rd_lambda);
  if (found.kept && 16 * found.satd_cost < satd * kSureIntra4x4) {
    result.cost += cost4x4;
    take_intra4x4(s, lane, result, found);
    return;
  }
  const Intra16x16Choice whole = search_intra16x16_by_rd<kRdoq>(
      s, constants, mine, start.neighbours, ranks, chroma_pattern, found.kept ? cost4x4 : INT64_MAX);
  if (found.kept && cost4x4 < whole.cost) {
    if (lane.lane < 16) {  // as they were before Intra_16x16 was tried
      s.luma_counts.at(core::luma_block_x(lane.lane), core::luma_block_y(lane.lane)) =
          static_cast<std::int8_t>(s.counts[core::kSlotLuma + lane.lane]);
    }
    result.cost += cost4x4;
    take_intra4x4(s, lane, result, found);
    return;
  }
  result.cost += whole.cost;
  take_best(s, lane, core::kSlotLumaDc, 17);
  if constexpr (decltype(preparation.marks)::kAny) {
    if (whole.with_ac) mark_intra16x16(s, lane, preparation.marks);
  }
  std::uint8_t* const samples = s.canvas.at(0, 0);
  predict_intra16x16(s, lane, start.neighbours, whole.mode, samples, Canvas::kPitch);
  Intra16x16Coder<true, kRdoq> coder{s,       constants,      lane,     {mine.lengths}, mine.luma,
                                     samples, Canvas::kPitch, s.levels, s.counts};
  coder.reconstruct(whole.with_ac, samples, Canvas::kPitch);
  take_intra16x16(s, lane, result, whole.mode, whole.with_ac);
}

template <bool kRd, bool kRdoq, class Preparation>
__device__ void search_luma(WarpState<kRd>& s, const SearchConstants& constants, const LaneConstants& mine,
                            const Place& place, const LumaStart& start, Preparation preparation,
                            MacroblockResult& result) {
  if constexpr (kRd) {
    search_luma_by_rd<kRdoq>(s, constants, mine, place, start, preparation, result);
  } else {
    search_luma_by_satd(s, constants, mine, place, start, preparation, result);
  }
}

}  // namespace cu264::encoder::cuda
