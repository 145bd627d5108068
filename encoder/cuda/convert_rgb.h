// Stage 1 on the GPU: RGB becomes the planes that `reconstruct` reads. The other formats are read where they
// are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/colour.h"

namespace cu264::encoder::cuda {

// Planes Y, Cb, Cr of a converted frame. Rows are aligned to 2 bytes and long enough for an even number of
// samples.
struct ConvertedPlanes {
  std::uint8_t* plane[3] = {};
  std::ptrdiff_t pitch[3] = {};
};

// Asynchronous on `stream`. Throws cu264::Error if the launch is refused.
void launch_ingest(const core::RgbPicture& rgb, const core::ColourMatrix& matrix,
                   const ConvertedPlanes& planes, cudaStream_t stream);

}  // namespace cu264::encoder::cuda
