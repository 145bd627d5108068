// What a preset searches. Both backends read these values, so that both decide the same.
#pragma once

#include "cu264/encoder.h"

namespace cu264::encoder {

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

// Dead zones in 64ths of the step (core/quant.h): what a coefficient must exceed to be rounded up.
inline constexpr int kDeadZoneLuma = 21;
inline constexpr int kDeadZoneChroma = 21;

}  // namespace cu264::encoder
