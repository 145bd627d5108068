// CAVLC_SU, CAVLCU and CAVLCU's tuned form behind the interface that an encoder takes: they code the blocks,
// and another kernel joins the codes into macroblocks, in place of lag packing.
#pragma once

#include "entropy/cavlc/entropy_kernel.h"

namespace cu264::entropy {

extern const EntropyKernel kCavlcSu;
extern const EntropyKernel kCavlcu;
extern const EntropyKernel kCavlcuTuned;

}  // namespace cu264::entropy
