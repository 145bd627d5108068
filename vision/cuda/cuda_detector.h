// Opens a detector on the GPU with another sequence of kernels than the production form's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "vision/cuda/canny_plan.h"
#include "vision/cuda/planes.h"
#include "vision/detector_backend.h"

namespace cu264::vision::cuda {

// A sequence of kernels, planned once for all batches of pictures of one size.
class DetectorPlan {
 public:
  virtual ~DetectorPlan() = default;
  virtual std::size_t scratch_bytes() const = 0;
  // Does what CannyPlan::launch does, without stage arrays.
  virtual void launch(const PicturePlanes& planes, int pictures, void* scratch, const EdgePlanes& edges,
                      Thresholds* thresholds, cudaStream_t stream) const = 0;
};

using MakeDetectorPlan = std::unique_ptr<DetectorPlan> (*)(const CannyParams& params, int width, int height,
                                                           int pictures, const DeviceLimits& limits);

// Does what open_cuda_detector does, with another plan.
std::unique_ptr<canny::DetectorBackend> open_cuda_detector_with(MakeDetectorPlan make_plan,
                                                                const CannyParams& params, int width,
                                                                int height, int batch, int device);

}  // namespace cu264::vision::cuda
