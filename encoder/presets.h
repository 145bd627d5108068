// The values that each preset searches with. Both backends read them, so that both make the same decisions.
#pragma once

#include "core/luma_decision.h"
#include "core/rate_model.h"
#include "cu264/encoder.h"

namespace cu264::encoder {

// The rate model of both searches.
using SearchRate = core::CavlcRate;

struct SearchParams {
  // The number of candidates of a block, in the order of SATD, that are compared by rate and distortion; 0:
  // SATD decides.
  int rd_candidates = 0;
  bool rdoq = false;                   // rate-distortion-optimised quantisation
  core::EarlyDecision early_decision;  // where SATD does not decide
};

// A stream with the 8x8 transform has three sizes to choose from, and more candidates of a block or a longer
// search for Intra_4x4 or Intra_8x8 than this find nothing.
inline SearchParams search_params(Preset preset, bool transform_8x8_mode) {
  switch (preset) {
    case Preset::fast:
      return {0, false, {}};
    case Preset::balanced:
      return {3, false, {17, 12, 15}};
    default:
      return transform_8x8_mode ? SearchParams{4, true, {18, 10, 15}} : SearchParams{9, true, {20, 10, 15}};
  }
}

}  // namespace cu264::encoder
