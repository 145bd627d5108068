// Codes a batch with CABAC on the GPU. This header needs no header of CUDA.
#pragma once

#include <vector>

#include "core/picture_params.h"
#include "core/slice_header.h"
#include "tests/parity/coded_pictures.h"
#include "tests/parity/pack_runner.h"

namespace cu264::parity {

// `headers` is [picture][slice]. Codes the batch with pools of several sizes, down to a segment, each time
// with the same memory, which is poisoned at first, as are the levels of empty blocks.
// Throws cu264::Error with CUDA's message.
std::vector<PackedBatch> code_cabac_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                              const std::vector<core::PictureParams>& params,
                                              const std::vector<core::SliceHeaderBits>& headers);

}  // namespace cu264::parity
