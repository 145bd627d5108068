// Whether a device can be used at all.
#pragma once

#include <cuda_runtime_api.h>

namespace cu264::encoder::cuda {

// Throws unless a kernel of this build runs on the device.
void probe_device(int device);

// Runs a kernel that does nothing.
cudaError_t launch_nothing(cudaStream_t stream);

}  // namespace cu264::encoder::cuda
