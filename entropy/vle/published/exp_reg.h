// EXP_REG, the third step from YAVLE to GVLE: thread-codes made once, in registers.
#pragma once

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kExpReg;

}  // namespace cu264::vle
