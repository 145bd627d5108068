// A launch or a call that the runtime refused becomes an Error.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "cu264/status.h"

namespace cu264::entropy {

inline void check_call(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::device_failure, std::string(call) + " failed: " + cudaGetErrorString(status),
              "restart the program; if it stays, check the GPU and its driver, or use the cpu backend");
}

inline void check_launch(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  throw Error(ErrorCode::device_failure,
              std::string("the device refused kernel ") + kernel + ": " + cudaGetErrorString(status),
              "restart the program; if it stays, check the GPU and its driver, or use the cpu backend");
}

}  // namespace cu264::entropy
