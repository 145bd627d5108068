// The interface between canny::Detector and its backends. It has a CPU and a CUDA implementation.
#pragma once

#include <memory>

#include "cu264/canny.h"
#include "vision/params.h"

namespace cu264::canny {

// The arguments of one call of Detector::detect, after they have been checked.
struct DetectorJob {
  Pictures pictures;
  EdgeMaps edges;
  // [picture][sub-image], in the same kind of memory as the planes; null: not wanted
  Thresholds* thresholds = nullptr;
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

// Exists in builds with CUDA only (vision/cuda). Allocates all scratch for `batch` pictures; throws
// Error(device_unavailable) where the device cannot be used. With host memory, detect() copies the pictures
// to the device and the results back before it returns; with device memory it only queues the work.
std::unique_ptr<canny::DetectorBackend> open_cuda_detector(const CannyParams& params, int width, int height,
                                                           int batch, int device);

// The backends that a Detector may open: the two above, or those of a library that this one does not link.
// open_cuda is null in builds without CUDA.
struct DetectorBackends {
  std::unique_ptr<canny::DetectorBackend> (*open_cpu)(const CannyParams& params, int width, int height,
                                                      int threads);
  std::unique_ptr<canny::DetectorBackend> (*open_cuda)(const CannyParams& params, int width, int height,
                                                       int batch, int device);
};

// Opens detectors with backends of the caller's choice.
struct DetectorAccess {
  // Does what Detector's constructor does, with other backends.
  static canny::Detector open(const DetectorBackends& backends, const canny::Params& params, int width,
                              int height, const canny::ExecutionOptions& execution);
};

// Checks the parameters and converts them to those of the kernels. Throws Error(invalid_argument).
CannyParams canny_params(const canny::Params& params);

}  // namespace cu264::vision
