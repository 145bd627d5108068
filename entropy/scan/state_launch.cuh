// Launches a kernel after another kernel that zeroes its ticket and its inter-block state. The zeroing takes
// less time than a launch. Where the GPU supports it, the blocks of the second kernel are therefore launched
// while the first one runs, and wait for it in take_ticket().
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/error_check.h"

namespace cu264::scan {

// The ticket occupies the first 256 bytes of the scratch, the state the rest.
inline constexpr std::size_t kTicketBytes = 256;

static __global__ void zero_words(std::uint64_t* d_words, std::size_t count) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) d_words[i] = 0;
}

template <class Call>
void launch_with_state(void (*kernel)(Call), const char* name, const Call& call, std::uint64_t blocks,
                       int threads, void* d_scratch, std::size_t scratch_size, void* stream) {
  // Only code that was compiled for compute capability 9.0 or higher waits in take_ticket().
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  const std::size_t words = scratch_size / sizeof(std::uint64_t);
  zero_words<<<static_cast<unsigned>((words + 255) / 256), 256, 0, cuda_stream>>>(
      static_cast<std::uint64_t*>(d_scratch), words);
  check_launch("zero_words");
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = cuda_stream;
  config.attrs = &early;
  config.numAttrs = attributes.ptxVersion >= 90 ? 1 : 0;
  check_cuda(cudaLaunchKernelEx(&config, kernel, call), name);
}

}  // namespace cu264::scan
