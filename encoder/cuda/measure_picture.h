// The measures of pictures on the device (core/picture_measure.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/device_batch.h"
#include "core/picture_measure.h"

namespace cu264::encoder::cuda {

// Where thread blocks add up what they have measured. It is zero before a picture and after it.
struct MeasureSums {
  std::uint32_t histogram[core::kMeasured * core::kMeasureBins];
  unsigned long long activity;
  unsigned long long weights;
  std::uint32_t measured;
  std::uint32_t finished_blocks;
};

// Pictures of one size that are measured together. Those without planes are left out.
struct MeasureInput {
  static constexpr int kMaxPictures = 16;
  struct MeasuredPicture {
    core::SourcePicture planes;
    PixelFormat format = PixelFormat::i420;  // i420, nv12 or gray8
  };

  int width = 0;
  int height = 0;
  int aq_strength = 0;  // as PictureMeasure::aq_strength
  int pictures = 0;
  MeasuredPicture picture[kMaxPictures];
};

// Measures pictures with planes of any pitch and alignment, and writes a measure of each to `results`, which
// is memory of the device or page-locked memory. Asynchronous on `stream`. `d_sums` has kMaxPictures
// elements, which one launch at a time uses.
void launch_measure(const MeasureInput& input, MeasureSums* d_sums, core::PictureMeasure* results,
                    cudaStream_t stream);

}  // namespace cu264::encoder::cuda
