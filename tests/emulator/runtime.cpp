// Replaces the CUDA runtime: there is one device, and its memory is the host's. What is queued on a stream is
// done when the call returns.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr std::size_t kMemory = std::size_t{4} << 30;
constexpr std::size_t kAlignment = 512;

// The allocations of device memory, to tell it from host memory.
std::mutex allocations_lock;
std::map<const char*, std::size_t> allocations;

template <class Handle>
cudaError_t make_handle(Handle* handle) {
  static char something;
  *handle = reinterpret_cast<Handle>(&something);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (bytes > kMemory) return cudaErrorMemoryAllocation;
  const std::size_t size = (bytes + kAlignment) / kAlignment * kAlignment;
  *memory = std::aligned_alloc(kAlignment, size);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xcd, size);
  const std::lock_guard lock(allocations_lock);
  allocations[static_cast<const char*>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  const std::lock_guard lock(allocations_lock);
  allocations.erase(static_cast<const char*>(memory));
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes + 1);
  return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return cudaMallocHost(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  *attributes = {};
  const std::lock_guard lock(allocations_lock);
  const auto* const byte = static_cast<const char*>(address);
  auto next = allocations.upper_bound(byte);
  const bool inside = next != allocations.begin() && (--next, byte < next->first + next->second);
  attributes->type = inside ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = kMemory;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  if (bytes != 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t) {
  for (std::size_t y = 0; y < height; ++y) {
    std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                width);
  }
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  if (bytes != 0) std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return make_handle(stream);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return make_handle(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return make_handle(stream);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = *highest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* argument) {
  function(argument);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return make_handle(event);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return make_handle(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
  return "an error of the emulator";
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "emulator");
  return cudaSuccess;
}
// There are three multiprocessors, so that kernels that size their grid by them get few blocks, each with
// several turns.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 3;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = 2048;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = 228 << 10;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 << 10;
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = 2;
  return cudaSuccess;
}

}  // extern "C"
