// The seam between canny::Detector and what computes: one interface, a CPU and a CUDA implementation.
#pragma once

#include <memory>

#include "cu264/canny.h"
#include "vision/params.h"

namespace cu264::canny {

// One call of Detector::detect, checked: sizes, pitches and counts fit.
struct DetectorJob {
  Pictures pictures;
  EdgeMaps edges;
  Thresholds* thresholds =
      nullptr;  // [picture][sub-image], in the same memory as the planes; null: not wanted
  MemoryKind memory = MemoryKind::host;
  void* stream = nullptr;  // device memory only
};

class DetectorBackend {
 public:
  virtual ~DetectorBackend() = default;
  virtual void detect(const DetectorJob& job) = 0;
};

}  // namespace cu264::canny

namespace cu264::vision {

std::unique_ptr<canny::DetectorBackend> open_cpu_detector(const CannyParams& params, int width, int height,
                                                          int threads);

// vision/cuda, in builds with CUDA only. Allocates all scratch for `batch` pictures; throws
// Error(device_unavailable) where the device cannot be used. In detect(), host memory is copied to the device
// and back before the call returns; device memory is only queued on.
std::unique_ptr<canny::DetectorBackend> open_cuda_detector(const CannyParams& params, int width, int height,
                                                           int batch, int device);

// What a Detector computes with: the two above, or those of a library that this one does not link. open_cuda
// is null in builds without CUDA.
struct DetectorBackends {
  std::unique_ptr<canny::DetectorBackend> (*open_cpu)(const CannyParams& params, int width, int height,
                                                      int threads);
  std::unique_ptr<canny::DetectorBackend> (*open_cuda)(const CannyParams& params, int width, int height,
                                                       int batch, int device);
};

struct DetectorAccess {
  // As Detector's constructor, with other backends.
  static canny::Detector open(const DetectorBackends& backends, const canny::Params& params, int width,
                              int height, const canny::Machine& machine);
};

// Checked and put into the form that kernels take. Throws Error(invalid_argument).
CannyParams canny_params(const canny::Params& params);

}  // namespace cu264::vision
