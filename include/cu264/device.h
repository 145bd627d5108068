// The CUDA devices of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cu264 {

struct DeviceInfo {
  int index = 0;  // what Config::devices takes
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::size_t memory = 0;  // bytes
  bool usable = false;
  std::string problem;  // why it is not usable
};

// Tries each device with a small kernel. Throws Error(device_unavailable) if there is no device, if the
// driver is too old, or if this build has no CUDA backend.
std::vector<DeviceInfo> cuda_devices();

}  // namespace cu264
