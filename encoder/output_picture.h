// What a decoder shows of a picture that was coded.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/cpu_picture.h"
#include "encoder/stages.h"

namespace cu264::encoder {

// Filters picture.reconstruction in place if `deblock` says so, and crops: planar 4:2:0 without padding.
std::vector<std::uint8_t> output_picture(CpuPicture& picture, bool deblock, const StageParams& params);

}  // namespace cu264::encoder
