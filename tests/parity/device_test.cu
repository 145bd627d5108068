#include "tests/parity/device_test.h"

#include <cuda_runtime.h>

namespace cu264::parity {
namespace {

__global__ void do_nothing() {}

}  // namespace

std::string why_no_device() {
  int devices = 0;
  cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices == 0) return "no CUDA device";
  if (status == cudaSuccess) {
    do_nothing<<<1, 1>>>();  // fails if this build holds no code for the device
    status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
  }
  return status == cudaSuccess ? std::string() : cudaGetErrorString(status);
}

}  // namespace cu264::parity
