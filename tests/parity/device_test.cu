#include "tests/parity/device_test.h"

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

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

int repetitions(int on_a_gpu, int on_the_emulator) {
  cudaDeviceProp properties;
  const bool emulated = cudaGetDeviceProperties(&properties, 0) == cudaSuccess &&
                        std::strcmp(properties.name, "emulator") == 0 &&
                        std::getenv("CU264_EMULATOR_SEED") == nullptr;
  return emulated ? on_the_emulator : on_a_gpu;
}

}  // namespace cu264::parity
