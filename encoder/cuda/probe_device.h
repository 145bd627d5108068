// CUDA's errors as the library's, and the device a call works on.
#pragma once

#include <cuda_runtime_api.h>

namespace cu264::encoder::cuda {

// Throws cu264::Error(device_unavailable, out_of_memory, device_failure) unless `status` is cudaSuccess.
// `what` says what was tried.
void check(cudaError_t status, const char* what);

// Makes a device current, and on leaving the one that the caller had.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int device_;
  int before_ = 0;
};

// Throws unless a kernel of this build runs on the device.
void probe_device(int device);

// Runs a kernel that does nothing.
cudaError_t launch_nothing(cudaStream_t stream);

}  // namespace cu264::encoder::cuda
