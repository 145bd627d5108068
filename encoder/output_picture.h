// The decoded picture, as a decoder shows it.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/cpu_picture.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// Filters picture.reconstruction in place if `deblock` is set, and returns it cropped: planar 4:2:0 without
// padding.
std::vector<std::uint8_t> output_picture(CpuPicture& picture, bool deblock, const StreamParams& params);

}  // namespace cu264::encoder
