// CAVLC_SU and CAVLCU behind the interface that an encoder takes: they code the blocks, and another kernel
// joins the codes to macroblocks.
#pragma once

#include "entropy/cavlc/entropy_kernel.h"

namespace cu264::entropy {

extern const EntropyKernel kCavlcSu;
extern const EntropyKernel kCavlcu;

}  // namespace cu264::entropy
