// Detectors of the paper's form: hysteresis by passes, once for each candidate pair, on the processor and on
// the GPU. The maps are those of canny::Detector; it takes much longer.
#pragma once

#include "cu264/canny.h"

namespace cu264::published {

// Throws as Detector's constructor does.
canny::Detector open_detector(const canny::Params& params, int width, int height,
                              const canny::Machine& machine = {});

}  // namespace cu264::published
