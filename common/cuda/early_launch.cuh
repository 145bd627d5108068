// Kernels that the device prepares while the previous kernel of their stream still runs. Where many short
// kernels follow one another, this hides most of the launch cost of each (programmatic dependent launch,
// compute capability 9.0 and above; elsewhere kernels are launched as usual).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/cuda/error_check.h"

namespace cu264 {

// A kernel that is launched early calls this before it touches memory. When it returns, everything that the
// previous kernels of the stream have written is visible.
__device__ __forceinline__ void wait_for_kernels_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Launches a kernel that, if `early`, calls wait_for_kernels_before(). Throws cu264::Error if the launch is
// refused.
template <class... Parameters, class... Arguments>
void launch_kernel(bool early, void (*kernel)(Parameters...), unsigned grid, unsigned threads,
                   std::size_t bytes, cudaStream_t stream, const Arguments&... arguments) {
  int device = 0, major = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
             "asking for the device's properties");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early && major >= 9 ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, arguments...), "launching a kernel");
}

}  // namespace cu264
