#include "encoder/cuda/probe_device.h"

namespace cu264::encoder::cuda {
namespace {

__global__ void do_nothing() {}

}  // namespace

cudaError_t launch_nothing(cudaStream_t stream) {
  do_nothing<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

}  // namespace cu264::encoder::cuda
