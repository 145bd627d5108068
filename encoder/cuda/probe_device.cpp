#include "encoder/cuda/probe_device.h"

#include <vector>

#include "cu264/status.h"
#include "encoder/cuda/cuda_backend.h"
#include "common/cuda/handles.h"

namespace cu264::encoder::cuda {
namespace {

constexpr char kUseCpu[] = "use the cpu backend";

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Error driver_too_old() {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  const std::string found =
      driver == 0 ? "there is no NVIDIA driver" : "the NVIDIA driver is for CUDA " + version_text(driver);
  return Error(ErrorCode::device_unavailable,
               found + ", this build needs CUDA " + version_text(CUDART_VERSION),
               "install or update the driver, or use the cpu backend");
}

int device_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting the CUDA devices");
  return count;
}

cudaDeviceProp properties_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the device's properties");
  return properties;
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // an error that can be survived does not come up again in a later call
  const std::string cause = std::string(what) + ": " + cudaGetErrorString(status);
  switch (status) {
    case cudaErrorInsufficientDriver:
      throw driver_too_old();
    case cudaErrorNoDevice:
      throw Error(ErrorCode::device_unavailable, "no CUDA device", kUseCpu);
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInitializationError:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
      throw Error(ErrorCode::device_unavailable, cause, kUseCpu);
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      throw Error(ErrorCode::device_unavailable, cause,
                  "build with CU264_CUDA_ARCHITECTURES that include the device's, or use the cpu backend");
    case cudaErrorMemoryAllocation:
      throw Error(ErrorCode::out_of_memory, cause, "use a smaller batch");
    default:
      throw Error(ErrorCode::device_failure, cause,
                  "open another encoder; if it fails again, check the device with nvidia-smi, or use the cpu "
                  "backend");
  }
}

DeviceGuard::DeviceGuard(int device) : device_(device) {
  check(cudaGetDevice(&before_), "asking for the current device");
  if (before_ != device_) check(cudaSetDevice(device_), "selecting the device");
}

DeviceGuard::~DeviceGuard() {
  if (before_ != device_) cudaSetDevice(before_);
}

void probe_device(int device) {
  const int count = device_count();
  if (device >= count) {
    throw Error(ErrorCode::device_unavailable, "there is no CUDA device " + std::to_string(device),
                count == 0 ? kUseCpu : "use a device from 0 to " + std::to_string(count - 1));
  }
  const DeviceGuard guard(device);
  const Stream stream;
  check(launch_nothing(stream.get()), "running a kernel");
  check(cudaStreamSynchronize(stream.get()), "running a kernel");
}

std::string device_name(int device) {
  return properties_of(device).name;
}

std::vector<DeviceInfo> list_devices() {
  const int count = device_count();
  if (count == 0) check(cudaErrorNoDevice, "counting the CUDA devices");
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
