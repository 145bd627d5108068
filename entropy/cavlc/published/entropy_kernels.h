// CAVLC_SU and CAVLCU as an encoder takes them: the blocks' codes, then joined to macroblocks.
#pragma once

#include "entropy/cavlc/entropy_kernel.h"

namespace cu264::entropy {

extern const EntropyKernel kCavlcSu;
extern const EntropyKernel kCavlcu;

}  // namespace cu264::entropy
