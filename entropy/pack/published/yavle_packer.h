// The packer with the steps of YAVLE (Yamamoto et al. 2020; thesis 2.3, algorithm 1), which GVLE's are
// measured against. No encoder offers it.
#pragma once

#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

extern const Packer kYavlePacker;

}  // namespace cu264::entropy
