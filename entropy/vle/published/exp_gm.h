// EXP_GM, the second step from YAVLE to GVLE: vector loads, and stores from shared memory.
#pragma once

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kExpGm;

}  // namespace cu264::vle
