// The candidates of a decision: their order, and which of them are worth a trial. A rank is a cost with the
// mode in its four lowest bits. Ranks order candidates by cost and break ties by mode, so the result does not
// depend on the order of comparisons.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/cost.h"
#include "core/hd.h"

namespace cu264::core {

using SatdRank = std::uint32_t;  // costs by SATD stay below 2^26
using RdRank = std::int64_t;     // costs by rate and distortion

inline constexpr SatdRank kNoRank = 0xffffffffu;  // of a mode that is not available; greater than all others
inline constexpr RdRank kNoRdRank = INT64_MAX;    // of no candidate at all

// The cost is SATD plus lambda times the mode's bits.
template <class Rate = WholeBits>
CU264_HD SatdRank satd_rank(int satd, int satd_lambda, int bits, int mode) {
  return static_cast<SatdRank>((satd + bits_cost<Rate, int>(bits, satd_lambda)) * 16 + mode);
}

CU264_HD RdRank rd_rank(std::int64_t cost, int mode) {
  return cost * 16 + mode;
}

template <class Rank>
CU264_HD int mode_of_rank(Rank rank) {
  return static_cast<int>(rank & 15);
}

template <class Rank>
CU264_HD Rank cost_of_rank(Rank rank) {
  return rank >> 4;
}

// The order of ranks, for costs that leave no bits free for a mode.
template <class Cost>
CU264_HD bool precedes(Cost cost, int mode, std::type_identity_t<Cost> other_cost, int other_mode) {
  return cost < other_cost || (cost == other_cost && mode < other_mode);
}

// The best and second-best candidates of a block by rate and distortion. Where the preset has RDOQ, it is
// applied to the best, and also to the second if that costs at most an eighth more, because RDOQ often
// reverses the order of two that are close.
struct BestTwo {
  static constexpr int kNoMode = 9;  // greater than all modes
  std::uint32_t cost[2] = {UINT32_MAX, UINT32_MAX};
  int mode[2] = {kNoMode, kNoMode};

  // Returns whether the candidate is the best so far.
  CU264_HD_MEMBER bool take(std::uint32_t new_cost, int new_mode) {
    const bool is_best = precedes(new_cost, new_mode, cost[0], mode[0]);
    const bool is_second = !is_best && precedes(new_cost, new_mode, cost[1], mode[1]);
    cost[1] = is_best ? cost[0] : is_second ? new_cost : cost[1];
    mode[1] = is_best ? mode[0] : is_second ? new_mode : mode[1];
    cost[0] = is_best ? new_cost : cost[0];
    mode[0] = is_best ? new_mode : mode[0];
    return is_best;
  }
  CU264_HD_MEMBER bool are_close() const { return cost[1] - cost[0] <= cost[0] >> 3; }
  // The cost above which a further candidate is neither the best nor close to it.
  CU264_HD_MEMBER std::uint32_t most() const { return are_close() ? cost[1] : cost[0] + (cost[0] >> 3); }
};

// Sorts in ascending order; meant for a handful of candidates.
CU264_HD void sort_ranks(SatdRank* ranks, int count) {
  for (int i = 1; i < count; ++i) {
    const SatdRank rank = ranks[i];
    int k = i;
    for (; k > 0 && ranks[k - 1] > rank; --k) ranks[k] = ranks[k - 1];
    ranks[k] = rank;
  }
}

// The same for four ranks, which a GPU keeps in registers.
CU264_HD void sort_ranks(SatdRank (&ranks)[4]) {
  const auto order = [&](int i, int j) {
    const SatdRank a = ranks[i], b = ranks[j];
    ranks[i] = a < b ? a : b, ranks[j] = a < b ? b : a;
  };
  order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
}

CU264_HD int nth_mode(const SatdRank (&ranks)[4], int i) {
  return mode_of_rank(i == 0 ? ranks[0] : i == 1 ? ranks[1] : i == 2 ? ranks[2] : ranks[3]);
}

// A candidate gets no trial by rate and distortion if its cost by SATD and mode bits exceeds this many 16ths
// of the lowest such cost. Together with EarlyDecision (core/luma_decision.h) this saves more than half of
// the trials.
inline constexpr int kWorthIntra4x4Mode = 20;
inline constexpr int kWorthIntra8x8Mode = 18;
inline constexpr int kWorthMode = 18;  // for Intra_16x16 and chroma

// Costs by SATD below 2^26.
CU264_HD bool is_worth_trial(std::uint32_t cost, std::uint32_t best_cost, int sixteenths) {
  return 16 * cost <= best_cost * static_cast<std::uint32_t>(sixteenths);
}

// Returns how many of the sorted candidates are tried: at least one, at most `most`.
template <int kCount>
CU264_HD int count_worth(const SatdRank (&ranks)[kCount], int most, int sixteenths) {
  int worth = 1;
  for (int i = 1; i < kCount; ++i) {
    worth += i < most && ranks[i] != kNoRank &&
             is_worth_trial(cost_of_rank(ranks[i]), cost_of_rank(ranks[0]), sixteenths);
  }
  return worth;
}

}  // namespace cu264::core
