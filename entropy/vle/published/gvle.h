// GVLE: vector loads, segments in registers, warp-codes in shared memory, its own inter-block scan.
#pragma once

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kGvle;

}  // namespace cu264::vle
