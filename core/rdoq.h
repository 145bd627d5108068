// Rate-distortion-optimised quantisation of one block: levels that cost less than they are worth are lowered.
//
// Everything is in level units (core/quant.h), where the trade between squared error and bits does not depend
// on the QP. The search is greedy with exact CAVLC bits: from rounding to nearest, each level from the
// highest frequency down may move one step towards zero, then the whole tail above some position may go.
#pragma once

#include <cstdint>

#include "core/cavlc_block.h"
#include "core/hd.h"
#include "core/quant.h"

namespace cu264::core {

// Lambda per bit in squared level units with 16 fractional bits. Two thirds of what mode decisions pay
// (rd_lambda of core/cost.h over step^2): a level also steers the prediction of later blocks, which the
// search does not see.
inline constexpr std::int64_t kRdoqLambda = 5000;

// scaled[k]: |coefficient| x multiplier in coding order, with `shift` fractional bits; bit k of `negative`:
// its sign. Writes `count` signed levels (the rest up to 16 is left alone). nC as for core/cavlc_block.h.
CU264_HD void rdoq_block(const std::int32_t* scaled, std::uint32_t negative, int count, int shift, int nC,
                         std::int16_t* levels) {
  std::int32_t value[16];  // scaled, with 8 fractional bits
  int nonzero = 0;
  for (int k = 0; k < count; ++k) {
    const int level = quantise(scaled[k], shift, 1 << (shift - 1));
    value[k] = scaled[k] >> (shift - 8);
    levels[k] = static_cast<std::int16_t>((negative >> k) & 1 ? -level : level);
    nonzero += level != 0;
  }
  if (nonzero == 0) return;

  std::int64_t rate = kRdoqLambda * cavlc_block_bits(levels, count, nC);
  for (int pass = 0; pass < 2; ++pass) {
    bool changed = false;
    for (int k = count - 1; k >= 0; --k) {
      if (levels[k] == 0) continue;
      const std::int16_t before = levels[k];
      const int magnitude = before < 0 ? -before : before;
      // Squared error grows by (e + 1)^2 - e^2 when the level drops by one, e being what rounding left over.
      const std::int64_t left_over = value[k] - 256 * static_cast<std::int64_t>(magnitude);
      const std::int64_t growth = 512 * left_over + 65536;
      if (growth >= rate) continue;
      levels[k] = static_cast<std::int16_t>(before < 0 ? before + 1 : before - 1);
      const std::int64_t lower_rate = kRdoqLambda * cavlc_block_bits(levels, count, nC);
      if (lower_rate + growth < rate) {
        rate = lower_rate;
        changed = true;
      } else {
        levels[k] = before;
      }
    }
    if (!changed) break;
  }

  // Cut the tail where that is cheapest: position `cut` and all above it become zero.
  std::int16_t trial[16];
  for (int k = 0; k < count; ++k) trial[k] = levels[k];
  std::int64_t growth = 0, best = rate;
  int cut = count;
  for (int k = count - 1; k >= 0; --k) {
    if (trial[k] == 0) continue;
    const std::int64_t magnitude = trial[k] < 0 ? -trial[k] : trial[k];
    // value^2 - (value - level)^2
    growth += 256 * magnitude * (2 * static_cast<std::int64_t>(value[k]) - 256 * magnitude);
    trial[k] = 0;
    if (growth >= best) continue;
    const std::int64_t cost = kRdoqLambda * cavlc_block_bits(trial, count, nC) + growth;
    if (cost < best) {
      best = cost;
      cut = k;
    }
  }
  for (int k = cut; k < count; ++k) levels[k] = 0;
}

}  // namespace cu264::core
