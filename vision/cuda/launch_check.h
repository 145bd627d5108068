// A launch that the runtime refused becomes an Error.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "cu264/status.h"

namespace cu264::vision::cuda {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::device_failure,
              std::string("the device refused ") + what + ": " + cudaGetErrorString(status),
              "restart the program; if it stays, check the GPU and its driver, or use the cpu backend");
}

inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), kernel);
}

}  // namespace cu264::vision::cuda
