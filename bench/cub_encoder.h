// What one writes who has CUB: lengths, DeviceScan, codes, in three passes. A peer for bench_vle.
#pragma once

#include "entropy/vle/published/published_encoder.h"

namespace cu264::bench {

extern const vle::PublishedEncoder kCubEncoder;

}  // namespace cu264::bench
