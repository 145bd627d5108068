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

}  // namespace cu264::encoder
