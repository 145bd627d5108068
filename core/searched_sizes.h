// Which of Intra_8x8 and Intra_4x4 are searched in a stream with Intra_8x8. The source of most macroblocks
// and their cost with Intra_16x16 show, before either search begins, which of the two would win, if any.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

// How much a macroblock's source gives the two transforms to code: twice the sums of satd4x4 and of satd8x8
// over its blocks, without the DC coefficients. For noise the two are nearly the same. The more the 4x4
// blocks of an 8x8 block differ from one another, the larger the second becomes.
struct SourceActivity {
  int by4x4 = 0;
  int by8x8 = 0;

  // Tells whether by8x8 is at least this many 64ths of by4x4.
  CU264_HD_MEMBER bool reaches(int ratio) const { return 64 * by8x8 >= ratio * by4x4; }
};

// Costs of Intra_16x16 by SATD with which a search begins.
struct CostRange {
  std::uint32_t least = 0;
  std::uint32_t most = UINT32_MAX;
  CU264_HD_MEMBER bool excludes(std::uint32_t cost) const { return cost < least || cost > most; }
};

// The rules that select the sizes. Costs are SATD costs of Intra_16x16 in multiples of lambda; ratios are
// those of SourceActivity in 64ths.
struct SizeRules {
  // A macroblock that costs less gains nothing from the modes of I_NxN. Noise, which no mode predicts, gains
  // less.
  int least;
  int noise_ratio;  // from here on it is not noise
  int least_of_noise;
  // A macroblock with much detail, or with 4x4 blocks that have little in common, nearly always takes
  // Intra_4x4.
  int most8x8;
  int edge_ratio;
  int most8x8_with_edges;
  // A macroblock with neither hardly ever takes Intra_4x4.
  int plain_ratio;  // below it
  int least4x4_of_plain;
};
struct SearchedSizes {
  CostRange intra8x8;
  CostRange intra4x4;
};

CU264_HD SearchedSizes searched_sizes(const SizeRules& rules, const SourceActivity& activity,
                                      int satd_lambda) {
  const auto cost = [satd_lambda](int lambdas) { return static_cast<std::uint32_t>(lambdas * satd_lambda); };
  const int least = activity.reaches(rules.noise_ratio) ? rules.least : rules.least_of_noise;
  const int least4x4 = activity.reaches(rules.plain_ratio) ? 0 : rules.least4x4_of_plain;
  const int most8x8 = activity.reaches(rules.edge_ratio) ? rules.most8x8_with_edges : rules.most8x8;
  SearchedSizes sizes;
  sizes.intra8x8 = {cost(least), cost(most8x8)};
  sizes.intra4x4.least = cost(least4x4 > least ? least4x4 : least);
  return sizes;
}

}  // namespace cu264::core
