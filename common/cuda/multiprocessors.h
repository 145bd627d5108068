// The number of multiprocessors of the current device, for kernels whose blocks take turns at the work.
#pragma once

#include <cuda_runtime_api.h>

#include "common/cuda/error_check.h"

namespace cu264 {

inline unsigned multiprocessors() {
  int device = 0, count = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "asking for the device's properties");
  return static_cast<unsigned>(count);
}

}  // namespace cu264
