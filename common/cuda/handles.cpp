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

int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  return device;
}

Stream::Stream(Priority priority) : device_(current_device()) {
  int lowest = 0, highest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for the priorities of streams");
  const int wanted = priority == Priority::high ? highest : lowest;
  check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, wanted), "making a stream");
}

Stream::~Stream() {
  const DeviceGuard guard(device_, std::nothrow);
  cudaStreamDestroy(stream_);
}

Event::Event(bool yields) : device_(current_device()) {
  const unsigned flags = cudaEventDisableTiming | (yields ? cudaEventBlockingSync : 0u);
  check_cuda(cudaEventCreateWithFlags(&event_, flags), "making an event");
}

Event::~Event() {
  const DeviceGuard guard(device_, std::nothrow);
  cudaEventDestroy(event_);
}

void FreeDeviceMemory::operator()(void* d_memory) const {
  const DeviceGuard guard(device, std::nothrow);
  cudaFree(d_memory);
}

void FreePinnedMemory::operator()(void* memory) const {
  const DeviceGuard guard(device, std::nothrow);
  cudaFreeHost(memory);
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
  return DeviceAllocation(d_memory, FreeDeviceMemory{device});
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
  return PinnedAllocation(memory, FreePinnedMemory{current_device()});
}

}  // namespace cu264
