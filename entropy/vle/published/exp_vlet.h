// EXP_VLET, the first step from YAVLE to GVLE: the code table split in 16 and 8 bits.
#pragma once

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kExpVlet;

}  // namespace cu264::vle
