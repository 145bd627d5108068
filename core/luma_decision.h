// The choice between Intra_4x4 and Intra_16x16, and the rules that end the search early. Both backends use
// the two functions at the end, whose template argument Search does the computation.
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/cost.h"
#include "core/hd.h"
#include "core/mode_trials.h"

namespace cu264::core {

// Where rate and distortion decide, the cost of Intra_4x4 by SATD can end the search early. In 16ths of the
// best Intra_16x16 mode's cost: from `stop` on Intra_4x4 is abandoned, and below `sure` Intra_16x16 is not
// tried.
struct EarlyDecision {
  int stop = 0;
  int sure = 0;
};

// The costs are by SATD and below 2^26. That of Intra_4x4 may cover only the first of its blocks.
CU264_HD bool intra4x4_is_hopeless(EarlyDecision early, std::uint32_t intra4x4, std::uint32_t intra16x16) {
  return intra4x4 >= intra16x16 * static_cast<std::uint32_t>(early.stop) / 16;
}

CU264_HD bool intra4x4_is_sure(EarlyDecision early, std::uint32_t intra4x4, std::uint32_t intra16x16) {
  return 16 * intra4x4 < intra16x16 * static_cast<std::uint32_t>(early.sure);
}

// Where SATD decides: Intra_4x4 must come below this share of Intra_16x16's, in 16ths, because SATD does not
// see what sixteen blocks of levels cost more.
inline constexpr int kBetterIntra4x4 = 15;

// The right side does not change from block to block, so a search computes it once.
CU264_HD bool intra4x4_is_better(std::uint32_t intra4x4, std::uint32_t intra16x16) {
  return intra4x4 < (intra16x16 * kBetterIntra4x4 + 15) / 16;
}

// Whether the search for Intra_4x4 is abandoned. One type for both ways to decide, so that a CPU's search is
// compiled once and in line.
struct Intra4x4Stop {
  bool by_rd = false;
  EarlyDecision early;
  CU264_HD_MEMBER bool operator()(std::uint32_t intra4x4, std::uint32_t intra16x16) const {
    return by_rd ? intra4x4_is_hopeless(early, intra4x4, intra16x16)
                 : !intra4x4_is_better(intra4x4, intra16x16);
  }
};

// Squared error, mode and levels of one Intra_4x4 block. 32 bits suffice (rd_cost).
CU264_HD std::uint32_t intra4x4_block_cost(int squared_error, int mode_bits, int block_bits, int rd_lambda) {
  return rd_cost<std::uint32_t>(static_cast<std::uint32_t>(squared_error),
                                static_cast<std::uint32_t>(mode_bits + block_bits), rd_lambda);
}

// The result of the search for the sixteen modes of Intra_4x4.
struct Intra4x4Result {
  bool kept = false;            // not abandoned; else nothing below counts
  std::uint32_t satd_cost = 0;  // modes' bits included
  std::int64_t cost = 0;        // of the blocks, where rate and distortion decide
  int mode_bits = 0;
  int pattern = 0;  // CodedBlockPatternLuma
};

// Search computes:
//   rate(), satd_lambda(), rd_lambda(), chroma_pattern()
//   early_decision()                   where rate and distortion decide
//   search_intra4x4(stop)              abandons it where stop(cost so far, Intra_16x16's) says so; the
//                                      latter is by SATD, and may be higher than what rank_intra16x16 finds
//   rank_intra16x16(ranks)             by SATD and mode bits, sorted
//   choose_intra16x16(ranks, to_beat)  core::choose_mode, where rate and distortion decide
//   take_intra4x4(found, cost)         makes that the macroblock's luma
//   take_intra16x16(choice)            the same, after choose_intra16x16
//   code_intra16x16(mode)              codes and takes that mode, where SATD decides

// `fast`: all by SATD.
template <class Search>
CU264_FLOW void decide_luma_by_satd(Search& search) {
  const Intra4x4Result found = search.search_intra4x4(Intra4x4Stop{});
  SatdRank ranks[4];
  search.rank_intra16x16(ranks);
  const int header_bits = search.rate().intra4x4_header_bits(found.pattern, search.chroma_pattern());
  if (found.kept &&
      intra4x4_is_better(found.satd_cost + search.satd_lambda() * header_bits, cost_of_rank(ranks[0]))) {
    search.take_intra4x4(found, 0);
  } else {
    search.code_intra16x16(mode_of_rank(ranks[0]));
  }
}

// Intra_4x4 unless SATD speaks for Intra_16x16, then Intra_16x16 unless SATD speaks against it.
template <class Search>
CU264_FLOW void decide_luma_by_rd(Search& search) {
  const EarlyDecision early = search.early_decision();
  const Intra4x4Result found = search.search_intra4x4(Intra4x4Stop{true, early});
  SatdRank ranks[4];
  search.rank_intra16x16(ranks);
  const std::uint32_t satd = cost_of_rank(ranks[0]);
  bool is_intra4x4 = found.kept && !intra4x4_is_hopeless(early, found.satd_cost, satd);
  const int header_bits = search.rate().intra4x4_header_bits(found.pattern, search.chroma_pattern());
  const std::int64_t cost = found.cost + rd_cost(0, header_bits, search.rd_lambda());
  if (!is_intra4x4 || !intra4x4_is_sure(early, found.satd_cost, satd)) {
    const ModeChoice whole = search.choose_intra16x16(ranks, is_intra4x4 ? cost : kNothingToBeat);
    is_intra4x4 = is_intra4x4 && cost < whole.cost;
    if (!is_intra4x4) search.take_intra16x16(whole);
  }
  if (is_intra4x4) search.take_intra4x4(found, cost);
}

}  // namespace cu264::core
