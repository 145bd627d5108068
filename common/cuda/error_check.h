// Every call of the CUDA runtime goes through these: an error becomes the library's.
#pragma once

#include <cuda_runtime_api.h>

namespace cu264 {

// Throws cu264::Error(device_unavailable, out_of_memory, device_failure) unless `status` is cudaSuccess.
// `doing` says what was tried: "making a stream".
void check_cuda(cudaError_t status, const char* doing);

// The same for the launch of a kernel, behind which it is called.
void check_launch(const char* kernel);

}  // namespace cu264
