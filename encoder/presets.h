// The values that each preset searches with. Both backends read them, so that both make the same decisions.
#pragma once

#include "core/candidates.h"
#include "core/luma_decision.h"
#include "core/searched_sizes.h"
#include "cu264/encoder.h"

namespace cu264::encoder {

struct SearchParams {
  // The number of candidates of a block, in the order of SATD, that are compared by rate and distortion; 0:
  // SATD decides.
  int rd_candidates = 0;
  bool rdoq = false;                   // rate-distortion-optimised quantisation
  core::EarlyDecision early_decision;  // where SATD does not decide
  core::SizeRules sizes = {};          // in streams with the 8x8 transform
  // These tell which candidates of a block are compared (core::is_worth_trial).
  int worth_intra4x4 = core::kWorthIntra4x4Mode;
  int worth_intra8x8 = core::kWorthIntra8x8Mode;
};

// All values were measured. A stream with the 8x8 transform has three sizes to choose from, and more than
// five candidates of a block gain hardly anything there.
inline SearchParams search_params(Preset preset, bool transform_8x8_mode) {
  switch (preset) {
    case Preset::fast:
      return {0, false, {}, {125, 72, 525, 525, 96, 0, 96, 525}};
    case Preset::balanced:
      return {3, false, {17, 12, 15}, {75, 68, 300, 1400, 96, 300, 77, 400}};
    default:
      return {transform_8x8_mode ? 5 : 9,
              true,
              {20, 10, 17},
              {40, 66, 120, 2000, 116, 500, 72, 150},
              core::kWorthIntra4x4Mode + 1,
              core::kWorthIntra8x8Mode + 1};
  }
}

// Tells whether the search counts CABAC's bits (core/cabac_rate.h). Where SATD decides, CAVLC's serve as
// well. With scaling lists that are not flat CAVLC's are counted as well, so that the kernels for them exist
// only once.
inline bool counts_cabac(const SearchParams& search, bool cabac, bool flat_lists) {
  return cabac && flat_lists && search.rd_candidates > 0;
}

}  // namespace cu264::encoder
