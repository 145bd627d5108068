// The values that each preset searches with. Both backends read them, so that both make the same decisions.
#pragma once

#include "core/luma_decision.h"
#include "cu264/encoder.h"

namespace cu264::encoder {

struct SearchParams {
  // The number of candidates of a block, in the order of SATD, that are compared by rate and distortion; 0:
  // SATD decides.
  int rd_candidates = 0;
  bool rdoq = false;                   // rate-distortion-optimised quantisation
  core::EarlyDecision early_decision;  // where SATD does not decide
};

inline SearchParams search_params(Preset preset) {
  switch (preset) {
    case Preset::fast:
      return {0, false, {}};
    case Preset::balanced:
      return {3, false, {17, 12, 15}};
    default:
      return {9, true, {20, 10, 15}};
  }
}

// Whether the search counts CABAC's bits (core/cabac_rate.h). Where SATD decides, CAVLC's tell as much.
inline bool counts_cabac(const SearchParams& search, bool cabac) {
  return cabac && search.rd_candidates > 0;
}

}  // namespace cu264::encoder
