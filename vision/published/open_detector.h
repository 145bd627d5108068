// Opens detectors of the paper's form, which run a hysteresis by passes for each candidate pair, on the
// processor or on the GPU. They give the maps of canny::Detector's production form, but take much longer.
#pragma once

#include "cu264/canny.h"

namespace cu264::published {

// Throws as Detector's constructor does.
canny::Detector open_detector(const canny::Params& params, int width, int height,
                              const canny::ExecutionOptions& execution = {});

}  // namespace cu264::published
