// What a decoder shows of a picture that was coded.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/cpu/picture.h"
#include "encoder/stages.h"

namespace cu264::encoder {

// Filters picture.reconstruction in place if `deblock` says so, and crops: planar 4:2:0 without padding.
std::vector<std::uint8_t> shown_picture(CpuPicture& picture, bool deblock, const StageParams& params);

}  // namespace cu264::encoder
