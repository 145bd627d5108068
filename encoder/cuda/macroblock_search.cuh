// One macroblock on one warp: chroma, then the better of Intra_16x16 and Intra_4x4, or I_PCM. Decides as
// encoder/cpu/macroblock_search_inl.h does.
#pragma once

#include <cstdint>

#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "encoder/cuda/chroma.cuh"
#include "encoder/cuda/intra16x16.cuh"
#include "encoder/cuda/intra4x4.cuh"
#include "encoder/cuda/macroblock.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kPcmBits = 9 + 7 + 384 * 8;
inline constexpr int kSurelyBelowPcm = 64;

// Constants of a lane that every macroblock uses.
struct LaneConstants {
  LanePlace place;
  HadamardMatrix matrix;
  Intra4x4Lane intra4x4;
  LaneQuantiser luma;
  LaneQuantiser chroma;
  const CavlcLengths& lengths;

  __device__ LaneConstants(const SearchConstants& constants, const CavlcLengths& cavlc_lengths)
      : matrix(place.lane),
        intra4x4(place),
        luma(constants.luma, place.position, kDeadZoneLuma),
        chroma(constants.chroma, place.position, kDeadZoneChroma),
        lengths(cavlc_lengths) {}
};

// What a macroblock came to, the same in all lanes; its levels, counts, modes and samples are in the warp's
// state.
struct MacroblockResult {
  core::MacroblockRecord record;  // but intra4x4_pred_mode
  int mode_bits = 0;              // of the Intra_4x4 modes
  std::int64_t cost = 0;          // if the preset decides by it
};

__device__ inline void sort_ranks(unsigned (&ranks)[4]) {
  const auto order = [&](int i, int j) {
    const unsigned low = min(ranks[i], ranks[j]), high = max(ranks[i], ranks[j]);
    ranks[i] = low, ranks[j] = high;
  };
  order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
}

__device__ inline int mode_of(const unsigned (&ranks)[4], int i) {
  return static_cast<int>((i == 0 ? ranks[0] : i == 1 ? ranks[1] : i == 2 ? ranks[2] : ranks[3]) & 15);
}

// How many of the sorted modes are tried by rate and distortion.
__device__ inline int candidates_of(const SearchConstants& constants, const unsigned (&ranks)[4]) {
  const unsigned worth = (ranks[0] >> 4) * kWorthMode;
  int count = 1;
#pragma unroll
  for (int i = 1; i < 4; ++i) {
    count += i < constants.search.rd_candidates && ranks[i] != kNoRank && 16 * (ranks[i] >> 4) <= worth;
  }
  return count;
}

template <bool kRdoq, class Coder>
__device__ void quantise(Coder& coder, bool by_rdoq) {
  if constexpr (kRdoq) {
    if (by_rdoq) {
      coder.quantise_by_rdoq();
      return;
    }
  }
  coder.quantise();
}

// Copies `count` 16-bit rows of levels.
__device__ inline void copy_levels(const LanePlace& lane, const std::int16_t (*from)[16],
                                   std::int16_t (*to)[16], int count) {
#pragma unroll 1
  for (int i = lane.lane; i < 8 * count; i += 32) {
    reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  }
}

// Keeps a candidate's levels, counts and DC coefficients as the best so far.
__device__ inline void keep_trial(WarpState<true>& s, const LanePlace& lane, int blocks) {
  copy_levels(lane, s.rd.trial_levels, s.rd.best_levels, blocks);
  if (lane.lane < blocks) s.rd.best_counts[lane.lane] = s.rd.trial_counts[lane.lane];
  if (lane.half == 0) s.rd.best_dc[lane.position] = s.dc[lane.position];
}

// And makes the best the macroblock's, from slot `first` on.
__device__ inline void take_best(WarpState<true>& s, const LanePlace& lane, int first, int blocks) {
  copy_levels(lane, s.rd.best_levels, s.levels + first, blocks);
  if (lane.lane < blocks) s.counts[first + lane.lane] = s.rd.best_counts[lane.lane];
  if (lane.half == 0) s.dc[lane.position] = s.rd.best_dc[lane.position];
  __syncwarp();
}

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
    const int coded = coder.pattern(), mode_bits = core::ue_length(static_cast<std::uint32_t>(tried));
    const int dc_bits = warp_sum(coder.dc_bits), ac_bits = warp_sum(coder.ac_bits);
    bool better = false;
#pragma unroll 1
    for (int p = coded; p >= 0; --p) {
      const int error = warp_sum(p == 2 ? coder.reconstruct(2, nullptr) : coder.flat_error(p == 1, row));
      const std::int64_t bits =
          mode_bits + chroma_pattern_bits(p) + (p > 0 ? dc_bits : 0) + (p == 2 ? ac_bits : 0);
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
  predict_chroma(s, lane, place, plane, choice.mode, samples);
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
  coder.reconstruct(choice.pattern, samples);

  // What the pattern leaves out counts as zero.
  if (lane.lane < 8) {
    if (choice.pattern < 2) s.counts[core::kSlotChromaAc + lane.lane] = 0;
    s.chroma_counts[lane.lane >> 2][1 + ((lane.lane >> 1) & 1)][1 + (lane.lane & 1)] =
        choice.pattern < 2 ? 0 : static_cast<std::int8_t>(s.counts[core::kSlotChromaAc + lane.lane]);
  } else if (lane.lane < 10 && choice.pattern < 1) {
    s.counts[core::kSlotChromaDc + lane.lane - 8] = 0;
  }
  result.record.intra_chroma_pred_mode = static_cast<std::uint8_t>(choice.mode);
  result.record.coded_block_pattern = static_cast<std::uint8_t>(choice.pattern << 4);
  __syncwarp();
}

template <bool kRd>
__device__ void take_intra16x16(WarpState<kRd>& s, const LanePlace& lane, MacroblockResult& result, int mode,
                                bool with_ac) {
  result.record.kind = core::MacroblockKind::intra16x16;
  result.record.intra16x16_pred_mode = static_cast<std::uint8_t>(mode);
  if (with_ac) result.record.coded_block_pattern |= 15;
  if (lane.lane < 16) {
    const int count = with_ac ? s.counts[core::kSlotLuma + lane.lane] : 0;
    s.counts[core::kSlotLuma + lane.lane] = static_cast<std::uint8_t>(count);
    s.luma_counts[1 + core::luma_block_y(lane.lane)][1 + core::luma_block_x(lane.lane)] =
        static_cast<std::int8_t>(count);
    s.modes[1 + (lane.lane >> 2)][1 + (lane.lane & 3)] = core::kIntra4x4Dc;
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

// mb_type, coded_block_pattern and mb_qp_delta of an Intra_4x4 macroblock.
__device__ inline int intra4x4_header_bits(int luma_pattern, int chroma_pattern) {
  core::MacroblockRecord record;
  record.kind = core::MacroblockKind::intra4x4;
  record.coded_block_pattern = static_cast<std::uint8_t>(luma_pattern | (chroma_pattern << 4));
  return core::mb_type_and_pattern_bits(record);
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
struct Prepared {
  unsigned intra16x16_cost;
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
                              [&] { return preparation.highest_cost(); });
  preparation.join(lane, start, result);
  unsigned ranks[core::kIntra16x16Modes];
  rank_intra16x16_modes(constants, mine, place, start, result, ranks);
  const int chroma_pattern = result.record.coded_block_pattern >> 4;
  if (found.kept &&
      found.satd_cost + constants.satd_lambda * intra4x4_header_bits(found.pattern, chroma_pattern) <
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
      const int error = warp_sum(with_ac ? coder.reconstruct(true, nullptr, 0) : coder.flat_error());
      const std::int64_t bits =
          dc_bits + (with_ac ? ac_bits : 0) + intra16x16_header_bits(tried, with_ac ? 15 : 0, chroma_pattern);
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
  Intra4x4Result found =
      search_intra4x4_by_rd<kRdoq>(s, constants, {mine.lengths}, lane, mine.intra4x4, mine.matrix, mine.luma,
                                   place, [&] { return preparation.highest_cost() * kStopIntra4x4 / 16; });
  preparation.join(lane, start, result);
  unsigned ranks[core::kIntra16x16Modes];
  rank_intra16x16_modes(constants, mine, place, start, result, ranks);
  const int chroma_pattern = result.record.coded_block_pattern >> 4;
  const unsigned satd = ranks[0] >> 4;
  found.kept = found.kept && found.satd_cost < satd * kStopIntra4x4 / 16;
  const std::int64_t cost4x4 =
      found.cost + core::rd_cost(0, intra4x4_header_bits(found.pattern, chroma_pattern), constants.rd_lambda);
  if (found.kept && 16 * found.satd_cost < satd * kSureIntra4x4) {
    result.cost += cost4x4;
    take_intra4x4(s, lane, result, found);
    return;
  }
  const Intra16x16Choice whole = search_intra16x16_by_rd<kRdoq>(
      s, constants, mine, start.neighbours, ranks, chroma_pattern, found.kept ? cost4x4 : INT64_MAX);
  if (found.kept && cost4x4 < whole.cost) {
    if (lane.lane < 16) {  // as they were before Intra_16x16 was tried
      s.luma_counts[1 + core::luma_block_y(lane.lane)][1 + core::luma_block_x(lane.lane)] =
          static_cast<std::int8_t>(s.counts[core::kSlotLuma + lane.lane]);
    }
    result.cost += cost4x4;
    take_intra4x4(s, lane, result, found);
    return;
  }
  result.cost += whole.cost;
  take_best(s, lane, core::kSlotLumaDc, 17);
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

// Exact size of macroblock_layer: a block a lane.
template <bool kRd>
__device__ int macroblock_bits(const WarpState<kRd>& s, const LanePlace& lane,
                               const MacroblockResult& result) {
  int bits = 0;
  const int slot = lane.lane;
  if (slot < core::kBlocksPerMacroblock && core::slot_is_coded(result.record, slot)) {
    int nC = core::kChromaDcNc;
    if (slot < core::kSlotChromaDc) {
      const int block = slot == core::kSlotLumaDc ? 0 : slot - core::kSlotLuma;
      const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
      nC = core::nc_from_neighbours(s.luma_counts[1 + by][bx], s.luma_counts[by][1 + bx]);
    } else if (slot >= core::kSlotChromaAc) {
      const int i = slot - core::kSlotChromaAc, bx = i & 1, by = (i >> 1) & 1;
      nC = core::nc_from_neighbours(s.chroma_counts[i >> 2][1 + by][bx], s.chroma_counts[i >> 2][by][1 + bx]);
    }
    bits = core::cavlc_block_bits(s.levels[slot], core::slot_max_num_coeff(result.record, slot), nC);
  }
  const int header = core::mb_type_and_pattern_bits(result.record) + result.mode_bits +
                     core::ue_length(result.record.intra_chroma_pred_mode);
  return warp_sum(bits) + header;
}

// Only DC levels reach the limit, at QP 0 to 3.
template <bool kRd>
__device__ bool dc_is_clipped(const WarpState<kRd>& s, const LanePlace& lane,
                              const MacroblockResult& result) {
  int level = 0;
  if (lane.lane < 16) {
    if (result.record.kind == core::MacroblockKind::intra16x16)
      level = s.levels[core::kSlotLumaDc][lane.lane];
  } else if (lane.lane < 24) {
    level = s.levels[core::kSlotChromaDc + ((lane.lane >> 2) & 1)][lane.lane & 3];
  }
  return __any_sync(kWarp, abs(level) >= core::kMaxLevel);
}

template <bool kRd>
__device__ bool pcm_is_better(const WarpState<kRd>& s, const SearchConstants& constants,
                              const LanePlace& lane, const MacroblockResult& result) {
  if (kRd && core::rd_cost(0, kPcmBits, constants.rd_lambda) < result.cost) return true;
  // A decision by SATD does not see what clipping does to the picture.
  if (!kRd && dc_is_clipped(s, lane, result)) return true;
  const int levels = warp_sum(lane.lane < core::kBlocksPerMacroblock ? s.counts[lane.lane] : 0);
  return levels > kSurelyBelowPcm && macroblock_bits(s, lane, result) > kPcmBits;
}

template <bool kRd>
__device__ void take_pcm(WarpState<kRd>& s, const LanePlace& lane, MacroblockResult& result) {
  const int i = lane.lane;
  result.record = core::MacroblockRecord{};
  result.record.kind = core::MacroblockKind::pcm;
  for (int k = i; k < 64; k += 32) {
    *reinterpret_cast<std::uint32_t*>(s.canvas.at(4 * (k & 3), k >> 2)) =
        *reinterpret_cast<const std::uint32_t*>(&s.luma[k >> 2][4 * (k & 3)]);
  }
  reinterpret_cast<std::uint32_t*>(s.chroma_out)[i] = reinterpret_cast<const std::uint32_t*>(s.chroma)[i];
  const bool counted = (i >= core::kSlotLuma && i < core::kSlotChromaDc) ||
                       (i >= core::kSlotChromaAc && i < core::kBlocksPerMacroblock);
  s.counts[i] = counted ? 16 : 0;
  if (i < 16) {
    s.luma_counts[1 + (i >> 2)][1 + (i & 3)] = 16;
    s.modes[1 + (i >> 2)][1 + (i & 3)] = core::kIntra4x4Dc;
  } else if (i < 24) {
    s.chroma_counts[(i >> 2) & 1][1 + ((i >> 1) & 1)][1 + (i & 1)] = 16;
  }
  __syncwarp();
}

// I_PCM where it is better; counts the rest.
template <bool kRd>
__device__ void finish_macroblock(WarpState<kRd>& s, const SearchConstants& constants, const LanePlace& lane,
                                  MacroblockResult& result) {
  if (pcm_is_better(s, constants, lane, result)) {
    take_pcm(s, lane, result);
  } else {
    const int count = lane.lane < core::kBlocksPerMacroblock ? s.counts[lane.lane] : 0;
    result.record.nonzero_blocks = __ballot_sync(kWarp, count != 0);
  }
  result.record.qp = static_cast<std::uint8_t>(constants.qp);
}

template <bool kRd, bool kRdoq>
__device__ MacroblockResult search_macroblock(WarpState<kRd>& s, const SearchConstants& constants,
                                              const LaneConstants& mine, const Place& place) {
  MacroblockResult result;
  const int slopes = plane_slopes(s, mine.place);
  search_chroma<kRd, kRdoq>(s, constants, mine, place, slopes, result);
  measure_source(s, mine.place, mine.matrix);
  LumaStart start;
  start.neighbours = measure_luma_neighbours(s, place, mine.place, slopes);
  start.satd = measure_intra16x16(s, mine.place, mine.matrix, start.neighbours);
  __syncwarp();
  const int pattern = result.record.coded_block_pattern >> 4;
  const Prepared prepared{
      highest_intra16x16_cost(constants, mine.place, place, start.satd, pattern, pattern)};
  search_luma<kRd, kRdoq>(s, constants, mine, place, start, prepared, result);
  finish_macroblock(s, constants, mine.place, result);
  return result;
}

}  // namespace cu264::encoder::cuda
