// The choice between Intra_4x4, Intra_8x8 and Intra_16x16, and the rules that end the search early. Both
// backends use the two functions at the end of this file; their template argument Search does the
// computation.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/block.h"
#include "core/candidates.h"
#include "core/cost.h"
#include "core/hd.h"
#include "core/mode_trials.h"
#include "core/searched_sizes.h"

namespace cu264::core {

// Where rate and distortion decide, the SATD cost of Intra_4x4 or Intra_8x8 can end its search early. `stop`
// and `sure` are in 16ths of the cost of the best Intra_16x16 mode: at `stop` or more the search is
// abandoned, and below `sure` Intra_16x16 is not tried. `stop4x4` is in 16ths of Intra_8x8's cost: at that or
// more Intra_4x4 is abandoned.
struct EarlyDecision {
  int stop = 0;
  int sure = 0;
  int stop4x4 = 0;
};

// The costs are by SATD and below 2^26. That of I_NxN may cover only the first of its blocks.
CU264_HD bool intra_nxn_is_hopeless(EarlyDecision early, std::uint32_t intra_nxn, std::uint32_t intra16x16) {
  return intra_nxn >= intra16x16 * static_cast<std::uint32_t>(early.stop) / 16;
}

CU264_HD bool intra_nxn_is_sure(EarlyDecision early, std::uint32_t intra_nxn, std::uint32_t intra16x16) {
  return 16 * intra_nxn < intra16x16 * static_cast<std::uint32_t>(early.sure);
}

// Where SATD decides, the cost of Intra_4x4 must be below this many 16ths of the cost of Intra_16x16, because
// SATD does not see how much more sixteen blocks of levels cost. The other pairs are compared in the same
// way.
inline constexpr int kBetterIntra4x4 = 15;
inline constexpr int kBetterIntra8x8 = 15;
inline constexpr int kBetterIntra4x4Than8x8 = 14;

// The right side does not change from block to block, so a search computes it once.
CU264_HD bool is_better_by_satd(std::uint32_t smaller_blocks, std::uint32_t larger_blocks, int sixteenths) {
  return smaller_blocks < (larger_blocks * static_cast<std::uint32_t>(sixteenths) + 15) / 16;
}

// After each of the first three quarters of Intra_4x4, the rest is assumed to cost at least this many 16ths
// of what the same part cost with Intra_8x8. The search is abandoned if it cannot win on that assumption.
inline constexpr int kRestOfIntra4x4 = 12;

// Decides whether the search for I_NxN is abandoned. One type serves both ways to decide, so the CPU's search
// is compiled once and inline.
struct IntraNxNStop {
  bool by_rd = false;
  int better = kBetterIntra4x4;  // than Intra_16x16, where SATD decides
  EarlyDecision early;
  std::uint32_t limit = UINT32_MAX;     // of the cost by SATD: from Intra_8x8, if that was kept
  std::int64_t cost_limit = INT64_MAX;  // the same where rate and distortion decide
  CostRange begins;                     // the costs of Intra_16x16 with which the search begins
  std::uint32_t quarter_limit[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};  // of Intra_4x4's, by quarters
  CU264_HD_MEMBER bool excludes(std::uint32_t intra16x16) const { return begins.excludes(intra16x16); }
  CU264_HD_MEMBER bool operator()(std::uint32_t intra_nxn, std::uint32_t intra16x16) const {
    return intra_nxn >= limit || (by_rd ? intra_nxn_is_hopeless(early, intra_nxn, intra16x16)
                                        : !is_better_by_satd(intra_nxn, intra16x16, better));
  }
};

// Squared error, mode and levels of one block of Intra_4x4 or Intra_8x8. 32 bits suffice (rd_cost).
template <class Rate = WholeBits>
CU264_HD std::uint32_t intra_nxn_block_cost(int squared_error, int mode_bits, int block_bits, int rd_lambda) {
  return rd_cost<Rate, std::uint32_t>(static_cast<std::uint32_t>(squared_error),
                                      static_cast<std::uint32_t>(mode_bits + block_bits), rd_lambda);
}

// The result of the search for the modes of Intra_4x4 or Intra_8x8.
struct IntraNxNResult {
  bool kept = false;            // not abandoned; else nothing below counts
  std::uint32_t satd_cost = 0;  // modes' bits included
  std::int64_t cost = 0;        // of the blocks, where rate and distortion decide
  int mode_bits = 0;
  int pattern = 0;  // CodedBlockPatternLuma
  // Intra_8x8 sets these where rate and distortion decide: satd_cost of the first block, of two and of three.
  std::uint32_t satd_after[3] = {0, 0, 0};
};

// The limits of Intra_4x4's cost that follow from Intra_8x8's, of which it must stay below `sixteenths`.
CU264_HD void limit_quarters(IntraNxNStop& stop, const IntraNxNResult& large, int sixteenths) {
  const auto all = large.satd_cost * static_cast<std::uint32_t>(sixteenths - kRestOfIntra4x4);
  for (int i = 0; i < 3; ++i) {
    stop.quarter_limit[i] = (all + large.satd_after[i] * kRestOfIntra4x4 + 15) / 16;
  }
}

// Search computes:
//   rate(), satd_lambda(), rd_lambda(), chroma_pattern()
//   early_decision()                   where rate and distortion decide
//   kHasIntra8x8, transform_8x8_mode() whether Intra_8x8 is compiled in, and whether the stream has it
//   activity(), size_rules()           the macroblock's source and what it is judged by, where it has
//   search_intra8x8(stop)              abandons it if stop(its cost, Intra_16x16's) says so, where the latter
//                                      is by SATD with Rate::kCostliestChromaPattern, because the
//                                      macroblock's pattern may not be known yet. The cost of some blocks may
//                                      suffice. Abandons it also if stop.excludes(that cost of Intra_16x16)
//   search_intra4x4(stop)              the same, but stop() may be given any cost of Intra_16x16 between what
//                                      rank_intra16x16 finds and that; may abandon it where its cost reaches
//                                      stop.cost_limit. Abandons it also if the cost by SATD of its first 4,
//                                      8 or 12 blocks reaches stop.quarter_limit
//   rank_intra16x16(ranks)             by SATD and mode bits, sorted
//   choose_intra16x16(ranks, to_beat)  core::choose_mode, where rate and distortion decide
//   take_intra4x4(found, cost)         makes that the macroblock's luma, whose cost is by SATD or by rate and
//                                      distortion; likewise take_intra8x8
//   take_intra16x16(choice)            the same, after choose_intra16x16
//   code_intra16x16(mode, cost)        codes and takes that mode, where SATD decides
// chroma_pattern() is known when search_intra4x4 has returned.

// The type of a search's rate model.
template <class Search>
using RateOf = std::remove_cvref_t<decltype(std::declval<const Search&>().rate())>;

template <class Search>
CU264_FLOW std::uint32_t header_cost_by_satd(const Search& search, MacroblockKind kind,
                                             const IntraNxNResult& found) {
  using Rate = RateOf<Search>;
  const int bits = search.rate().i_nxn_header_bits(kind, found.pattern, search.chroma_pattern());
  return static_cast<std::uint32_t>(bits_cost<Rate, int>(bits, search.satd_lambda()));
}

// `fast`: all by SATD.
template <class Search>
CU264_FLOW void decide_luma_by_satd(Search& search) {
  IntraNxNStop stop;
  IntraNxNResult large;
  if constexpr (Search::kHasIntra8x8) {
    if (search.transform_8x8_mode()) {
      const SearchedSizes sizes =
          searched_sizes(search.size_rules(), search.activity(), search.satd_lambda());
      stop.begins = sizes.intra8x8;
      stop.better = kBetterIntra8x8;
      large = search.search_intra8x8(stop);
      stop.begins = sizes.intra4x4;
      stop.better = kBetterIntra4x4;
      if (large.kept) stop.limit = large.satd_cost * kBetterIntra4x4Than8x8 / 16;
    }
  }
  const IntraNxNResult small = search.search_intra4x4(stop);
  SatdRank ranks[4];
  search.rank_intra16x16(ranks);
  const std::uint32_t whole = cost_of_rank(ranks[0]);
  const std::uint32_t small_cost =
      small.satd_cost + header_cost_by_satd(search, MacroblockKind::intra4x4, small);
  const bool small_is_better = small.kept && is_better_by_satd(small_cost, whole, kBetterIntra4x4);
  if constexpr (Search::kHasIntra8x8) {
    const std::uint32_t large_cost =
        large.satd_cost + header_cost_by_satd(search, MacroblockKind::intra8x8, large);
    if (large.kept && is_better_by_satd(large_cost, whole, kBetterIntra8x8) &&
        !(small_is_better && is_better_by_satd(small_cost, large_cost, kBetterIntra4x4Than8x8))) {
      return search.take_intra8x8(large, large_cost);
    }
  }
  if (small_is_better) {
    search.take_intra4x4(small, small_cost);
  } else {
    search.code_intra16x16(mode_of_rank(ranks[0]), whole);
  }
}

// Tries Intra_4x4 or Intra_8x8 unless SATD favours Intra_16x16, and then Intra_16x16 unless SATD rules it
// out.
template <class Search>
CU264_FLOW void decide_luma_by_rd(Search& search) {
  const EarlyDecision early = search.early_decision();
  IntraNxNStop stop;
  stop.by_rd = true;
  stop.early = early;
  IntraNxNResult large;
  if constexpr (Search::kHasIntra8x8) {
    if (search.transform_8x8_mode()) {
      const SearchedSizes sizes =
          searched_sizes(search.size_rules(), search.activity(), search.satd_lambda());
      stop.begins = sizes.intra8x8;
      large = search.search_intra8x8(stop);
      stop.begins = sizes.intra4x4;
    }
    if (large.kept) {
      stop.limit = large.satd_cost * static_cast<std::uint32_t>(early.stop4x4) / 16;
      stop.cost_limit = large.cost;
      limit_quarters(stop, large, early.stop4x4);
    }
  }
  const IntraNxNResult small = search.search_intra4x4(stop);
  SatdRank ranks[4];
  search.rank_intra16x16(ranks);
  const std::uint32_t satd = cost_of_rank(ranks[0]);
  const auto cost_of = [&](MacroblockKind kind, const IntraNxNResult& found) {
    const int header_bits = search.rate().i_nxn_header_bits(kind, found.pattern, search.chroma_pattern());
    return found.cost + bits_cost<RateOf<Search>>(header_bits, search.rd_lambda());
  };
  const bool is_large = large.kept;
  bool is_small =
      small.kept && small.cost < stop.cost_limit && !intra_nxn_is_hopeless(early, small.satd_cost, satd);
  std::int64_t cost = is_large ? cost_of(MacroblockKind::intra8x8, large) : kNothingToBeat;
  if (is_small) {
    const std::int64_t small_cost = cost_of(MacroblockKind::intra4x4, small);
    is_small = small_cost < cost;
    if (is_small) cost = small_cost;
  }
  bool is_nxn = is_small || is_large;
  std::uint32_t nxn_satd = small.satd_cost;
  if (!is_small) {
    // The bits of sixteen modes outweigh the header. Those of four do not, and in flat macroblocks the header
    // decides.
    nxn_satd = large.satd_cost + header_cost_by_satd(search, MacroblockKind::intra8x8, large);
  }
  if (!is_nxn || !intra_nxn_is_sure(early, nxn_satd, satd)) {
    const ModeChoice whole = search.choose_intra16x16(ranks, cost);
    is_nxn = is_nxn && cost < whole.cost;
    if (!is_nxn) search.take_intra16x16(whole);
  }
  if (!is_nxn) return;
  if (is_small) return search.take_intra4x4(small, cost);
  if constexpr (Search::kHasIntra8x8) search.take_intra8x8(large, cost);
}

}  // namespace cu264::core
