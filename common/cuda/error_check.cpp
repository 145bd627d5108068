#include "common/cuda/error_check.h"

#include <string>

#include "cu264/status.h"

namespace cu264 {
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

}  // namespace

void check_cuda(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that a later call does not report a recoverable error again
  const std::string cause = std::string(doing) + ": " + cudaGetErrorString(status);
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
                  "try again; if it fails again, check the device with nvidia-smi, or use the cpu backend");
  }
}

void check_launch(const char* kernel) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) check_cuda(status, (std::string("launching ") + kernel).c_str());
}

}  // namespace cu264
