#include "common/cuda/handles.h"

#include <string>

#include "cu264/status.h"

namespace cu264 {
namespace {

std::string megabytes(std::size_t bytes) {
  return std::to_string((bytes + (std::size_t{1} << 20) - 1) >> 20) + " MiB";
}

constexpr char kRemedy[] = "set a smaller batch, or free memory that other programs use";

}  // namespace

DeviceGuard::DeviceGuard(int device) : device_(device) {
  cudaGetLastError();
  check_cuda(cudaGetDevice(&before_), "asking for the current device");
  if (before_ != device_) check_cuda(cudaSetDevice(device_), "selecting the device");
}

DeviceGuard::~DeviceGuard() {
  if (before_ != device_) cudaSetDevice(before_);
}

Stream::Stream(Priority priority) {
  int lowest = 0, highest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for the priorities of streams");
  const int wanted = priority == Priority::high ? highest : lowest;
  check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, wanted), "making a stream");
}

DeviceAllocation allocate_device(std::size_t bytes, int device) {
  void* d_memory = nullptr;
  const cudaError_t status = cudaMalloc(&d_memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    throw Error(ErrorCode::out_of_memory,
                "this needs " + megabytes(bytes) + " of memory on device " + std::to_string(device) +
                    ", which has " + megabytes(free_bytes) + " free",
                kRemedy);
  }
  check_cuda(status, "allocating device memory");
  return DeviceAllocation(d_memory);
}

PinnedAllocation allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(ErrorCode::out_of_memory,
                "this needs " + megabytes(bytes) + " of page-locked host memory, which is not available",
                kRemedy);
  }
  check_cuda(status, "allocating page-locked memory");
  return PinnedAllocation(memory);
}

}  // namespace cu264
