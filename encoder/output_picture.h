// The decoded picture, as a decoder shows it.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/cpu_picture.h"
#include "encoder/row_progress.h"
#include "encoder/stream_params.h"

namespace cu264::encoder {

// Filters picture.reconstruction in place. Rows of macroblocks go to for_rows.
void filter_picture(CpuPicture& picture, const ForRows& for_rows = one_row_after_another);

// Returns picture.reconstruction cropped: planar 4:2:0 without padding.
std::vector<std::uint8_t> output_samples(const CpuPicture& picture, const StreamParams& params);

// Both, the filter if `deblock` is set.
std::vector<std::uint8_t> output_picture(CpuPicture& picture, bool deblock, const StreamParams& params);

}  // namespace cu264::encoder
