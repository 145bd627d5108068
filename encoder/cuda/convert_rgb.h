// Stage 1 on the GPU: converts RGB to the planes that `reconstruct` reads. Frames of the other formats are
// read as they are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/colour.h"

namespace cu264::encoder::cuda {

// The planes Y, Cb and Cr of a converted frame. Rows are aligned to 2 bytes and have room for an even number
// of samples.
struct ConvertedPlanes {
  std::uint8_t* plane[3] = {};
  std::ptrdiff_t pitch[3] = {};
};

// Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_ingest(const core::RgbPicture& rgb, const core::ColourMatrix& matrix,
                   const ConvertedPlanes& planes, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
