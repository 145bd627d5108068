// YAVLE: a thread reads its 32 symbols twice, once for their length and once to write them; Yamamoto's scan.
#pragma once

#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

extern const PublishedEncoder kYavle;

}  // namespace cu264::vle
