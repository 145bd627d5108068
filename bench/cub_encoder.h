// The encoder that one would write with CUB, for comparison in bench_vle. It has three passes: lengths,
// DeviceScan, codes.
#pragma once

#include "entropy/vle/published/published_encoders.h"

namespace cu264::bench {

extern const vle::PublishedEncoder kCubEncoder;

}  // namespace cu264::bench
