// Checks of CUDA runtime calls, which all of the library's calls go through. An error becomes a cu264::Error.
#pragma once

#include <cuda_runtime_api.h>

namespace cu264 {

// Throws cu264::Error(device_unavailable, out_of_memory, device_failure) unless `status` is cudaSuccess.
// `doing` names what was attempted, for example "making a stream".
void check_cuda(cudaError_t status, const char* doing);

// The same for the launch of a kernel; to be called right after it.
void check_launch(const char* kernel);

}  // namespace cu264
