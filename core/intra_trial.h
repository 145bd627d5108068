// Which macroblocks of a P picture are searched as I macroblocks too. Costs are SATD plus lambda times bits.
#pragma once

#include "core/hd.h"

namespace cu264::core {

// Intra prediction is tried if it costs at most this many 16ths of inter prediction by SATD, where rate and
// distortion then decide. Where they do not, it must be better by some bits.
inline constexpr int kWorthIntraTrial = 18;
inline constexpr int kBetterIntraBits = 8;
// Inter prediction that costs no more than this many bits by SATD is kept.
inline constexpr int kGoodInterBits = 24;
// Bits that the modes of Intra_4x4 take on average, each, where they are not known.
inline constexpr int kDefaultModeBits = 3;

CU264_HD bool inter_is_good(int inter_cost, int satd_lambda) {
  return inter_cost <= kGoodInterBits * satd_lambda;
}

// Intra prediction is tried if it costs less than this. by_rd: rate and distortion decide then.
CU264_HD int likely_intra_cost(int inter_cost, int satd_lambda, bool by_rd) {
  return by_rd ? (kWorthIntraTrial * inter_cost + 15) / 16 : inter_cost - kBetterIntraBits * satd_lambda;
}

CU264_HD bool intra_is_likely(int intra_cost, int inter_cost, int satd_lambda, bool by_rd) {
  return intra_cost < likely_intra_cost(inter_cost, satd_lambda, by_rd);
}

}  // namespace cu264::core
