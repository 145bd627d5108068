#include "encoder/cuda/probe_device.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/cuda/handles.h"
#include "cu264/status.h"
#include "encoder/cuda/cuda_backend.h"

namespace cu264::encoder::cuda {
namespace {

constexpr char kUseCpu[] = "use the cpu backend";

int device_count() {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "counting the CUDA devices");
  return count;
}

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "asking for the device's properties");
  return properties;
}

}  // namespace

void probe_device(int device) {
  static std::mutex mutex;
  static std::set<int> good;  // devices that ran the kernel: once is enough for the process
  const std::lock_guard lock(mutex);
  if (good.count(device) != 0) return;
  const int count = device_count();
  if (device >= count) {
    throw Error(ErrorCode::device_unavailable, "there is no CUDA device " + std::to_string(device),
                count == 0 ? kUseCpu : "use a device from 0 to " + std::to_string(count - 1));
  }
  const DeviceGuard guard(device);
  const Stream stream;
  check_cuda(launch_nothing(stream.get()), "running a kernel");
  check_cuda(cudaStreamSynchronize(stream.get()), "running a kernel");
  good.insert(device);
}

// Asking for the properties takes as long as opening an encoder, so the name is remembered.
std::string device_name(int device) {
  static std::mutex mutex;
  static std::map<int, std::string> names;
  const std::lock_guard lock(mutex);
  std::string& name = names[device];
  if (name.empty()) name = properties_of(device).name;
  return name;
}

std::string probed_device_name(int device) {
  probe_device(device);
  return device_name(device);
}

std::vector<DeviceInfo> list_devices() {
  const int count = device_count();
  if (count == 0) check_cuda(cudaErrorNoDevice, "counting the CUDA devices");
  std::vector<DeviceInfo> devices;
  for (int device = 0; device < count; ++device) {
    const cudaDeviceProp properties = properties_of(device);
    DeviceInfo& info = devices.emplace_back();
    info.index = device;
    info.name = properties.name;
    info.compute_major = properties.major;
    info.compute_minor = properties.minor;
    info.multiprocessors = properties.multiProcessorCount;
    info.memory = properties.totalGlobalMem;
    try {
      probe_device(device);
      info.usable = true;
    } catch (const Error& error) {
      info.problem = error.what();
    }
  }
  return devices;
}

}  // namespace cu264::encoder::cuda
