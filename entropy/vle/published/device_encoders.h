// Every encoder on the GPU, in one list.
#pragma once

#include <span>

#include "entropy/vle/device_encoder.h"
#include "entropy/vle/published/published_encoder.h"

namespace cu264::vle {

// pavle, cuvle, yavle, exp_vlet, exp_gm, exp_reg, gvle, then fast.
std::span<const DeviceEncoder> device_encoders();

// The published ones among them, in the same order, with thread blocks of any size.
std::span<const PublishedEncoder* const> published_encoders();

}  // namespace cu264::vle
