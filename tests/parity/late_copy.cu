#include "tests/parity/late_copy.h"

#include <cstdint>

#include "common/cuda/error_check.h"

namespace cu264::parity {
namespace {

__global__ void wait_and_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes,
                              int microseconds) {
  for (int i = 0; i < microseconds; ++i) __nanosleep(1000);
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x) {
    to[i] = from[i];
  }
}

}  // namespace

void copy_late(void* to, const void* from, std::size_t bytes, int microseconds, void* stream) {
  wait_and_copy<<<8, 256, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from), bytes, microseconds);
  check_launch("wait_and_copy");
}

}  // namespace cu264::parity
