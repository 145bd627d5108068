// What a preset searches. Both backends read these values, so that both decide the same.
#pragma once

#include "core/rate_model.h"
#include "cu264/encoder.h"

namespace cu264::encoder {

// The rate model that both searches decide by.
using SearchRate = core::CavlcRate;

struct SearchParams {
  int rd_candidates =
      0;  // a block: how many, best SATD first, are decided by rate and distortion; 0: SATD decides
  bool rdoq = false;  // rate-distortion-optimised quantisation
};

inline SearchParams search_params(Preset preset) {
  switch (preset) {
    case Preset::fast:
      return {0, false};
    case Preset::balanced:
      return {3, false};
    default:
      return {9, true};
  }
}

// What is not worth a measurement of rate and distortion, told by SATD and mode bits in 16ths of the best
// cost. Together these leave out more than half of the trials for 0.2 % of rate.
inline constexpr int kWorthIntra4x4Mode = 24;  // modes up to here
inline constexpr int kWorthMode = 18;          // modes of Intra_16x16 and of chroma up to here
inline constexpr int kStopIntra4x4 = 18;       // Intra_4x4 from here on, of Intra_16x16's
inline constexpr int kSureIntra4x4 = 12;       // Intra_16x16 where Intra_4x4 is below this share of it
inline constexpr int kWorthRdoq = 17;          // RDOQ of Intra_16x16 up to here, of Intra_4x4's cost

// Dead zones in 64ths of the step (core/quant.h): 32 rounds to nearest. Less for chroma, whose small levels
// are worth less to the eye and cost as much.
inline constexpr int kDeadZoneLuma = 25;
inline constexpr int kDeadZoneChroma = 21;

// The loop filter's thresholds, a little below the standard's own: intra pictures are filtered at every edge
// with the strongest setting, which at no offset takes detail away too.
inline constexpr int kSliceAlphaC0OffsetDiv2 = -1;
inline constexpr int kSliceBetaOffsetDiv2 = 0;

}  // namespace cu264::encoder
