// Counts the thread blocks with which a kernel that stays resident is launched.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"

namespace cu264::vle {

// The number of blocks of a kernel that the current device holds at once.
template <class Kernel>
unsigned resident_blocks(Kernel kernel, int threads, std::size_t shared_bytes) {
  int device = 0, multiprocessors = 0, resident = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "asking for the device");
  if (shared_bytes > 0) allow_shared_memory(kernel);
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes),
             "asking for the number of resident blocks");
  return static_cast<unsigned>(std::max(resident, 1) * multiprocessors);
}

}  // namespace cu264::vle
