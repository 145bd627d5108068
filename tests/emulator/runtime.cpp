// Replaces the CUDA runtime: there is one device, and its memory is the host's. What is queued on a stream is
// done when the call returns, but for copies on streams that a test has made late (late_work.h).
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/emulator/driver.h"
#include "tests/emulator/late_work.h"

namespace {

using namespace cu264;

constexpr std::size_t kMemory = std::size_t{4} << 30;
constexpr std::size_t kAlignment = 512;

// The allocations of device memory, to tell it from host memory.
std::mutex allocations_lock;
std::map<const char*, std::size_t> allocations;

// What was unfinished on the stream when the event was recorded.
struct EventState {
  std::mutex mutex;
  CUcontext context = nullptr;
  emulator::LateWorks unfinished;
};

EventState& state_of(cudaEvent_t event) {
  return *reinterpret_cast<EventState*>(event);
}

emulator::LateWorks works_of(cudaEvent_t event) {
  EventState& state = state_of(event);
  const std::lock_guard lock(state.mutex);
  return state.unfinished;
}

// What was set of kernels.
std::mutex attributes_lock;
std::map<const void*, cudaFuncAttributes> attributes_of_kernels;

}  // namespace

namespace cu264::emulator::runtime {

cudaError_t allocate(void** memory, std::size_t bytes) {
  if (bytes > kMemory) return cudaErrorMemoryAllocation;
  const std::size_t size = (bytes + kAlignment) / kAlignment * kAlignment;
  *memory = std::aligned_alloc(kAlignment, size);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xcd, size);
  const std::lock_guard lock(allocations_lock);
  allocations[static_cast<const char*>(*memory)] = bytes;
  return cudaSuccess;
}

cudaError_t free_memory(void* memory) {
  finish_all();
  const std::lock_guard lock(allocations_lock);
  allocations.erase(static_cast<const char*>(memory));
  std::free(memory);
  return cudaSuccess;
}

bool is_device_memory(const void* address) {
  const std::lock_guard lock(allocations_lock);
  const auto* const byte = static_cast<const char*>(address);
  auto next = allocations.upper_bound(byte);
  return next != allocations.begin() && (--next, byte < next->first + next->second);
}

cudaError_t create_event(cudaEvent_t* event) {
  auto* const state = new EventState;
  state->context = current_context();
  *event = reinterpret_cast<cudaEvent_t>(state);
  return cudaSuccess;
}

cudaError_t destroy_event(cudaEvent_t event) {
  delete &state_of(event);
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream) {
  EventState& state = state_of(event);
  if (state.context != context_of(stream)) return cudaErrorInvalidResourceHandle;
  const std::lock_guard lock(state.mutex);
  state.unfinished = unfinished(stream);
  return cudaSuccess;
}

cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event) {
  wait_for(stream, works_of(event));
  return cudaSuccess;
}

}  // namespace cu264::emulator::runtime

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  emulator::use_context(__func__);
  return emulator::runtime::allocate(memory, bytes);
}
cudaError_t cudaFree(void* memory) {
  emulator::use_context(__func__);
  return emulator::runtime::free_memory(memory);
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  emulator::use_context(__func__);
  *memory = std::malloc(bytes + 1);
  return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return cudaMallocHost(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) {
  emulator::use_context(__func__);
  emulator::finish_all();
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  *attributes = {};
  attributes->type =
      emulator::runtime::is_device_memory(address) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  emulator::use_context(__func__);
  *free = *total = kMemory;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  emulator::use_context(__func__);
  emulator::copy_work(stream, [=] {
    if (bytes != 0) std::memmove(to, from, bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  emulator::use_context(__func__);
  emulator::copy_work(stream, [=] {
    for (std::size_t y = 0; y < height; ++y) {
      std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                  width);
    }
  });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  emulator::use_context(__func__);
  emulator::copy_work(stream, [=] {
    if (bytes != 0) std::memset(memory, value, bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  emulator::use_context(__func__);
  *stream = emulator::make_stream((flags & cudaStreamNonBlocking) == 0);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  emulator::use_context(__func__);
  *id = emulator::stream_id(stream);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = *highest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  emulator::use_context(__func__);
  emulator::destroy_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  emulator::use_context(__func__);
  emulator::begin_work(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  emulator::use_context(__func__);
  return emulator::runtime::wait_for_event(stream, event);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  emulator::use_context(__func__);
  emulator::begin_work(stream);
  function(argument);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  emulator::use_context(__func__);
  return emulator::runtime::create_event(event);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  emulator::use_context(__func__);
  return emulator::runtime::destroy_event(event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  emulator::use_context(__func__);
  return emulator::runtime::record_event(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  emulator::use_context(__func__);
  return emulator::are_done(works_of(event)) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  emulator::use_context(__func__);
  emulator::finish(works_of(event));
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  emulator::use_context(__func__);
  emulator::finish_all();
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
  return "an error of the emulator";
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc*, const cudaResourceViewDesc*) {
  if (resource->resType != cudaResourceTypeLinear) return cudaErrorInvalidValue;
  *texture = reinterpret_cast<std::uintptr_t>(resource->res.linear.devPtr);
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t) {
  return cudaSuccess;
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
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const std::lock_guard lock(attributes_lock);
  const auto [at, added] = attributes_of_kernels.try_emplace(kernel);
  if (added) {
    at->second.maxThreadsPerBlock = 1024;
    at->second.maxDynamicSharedSizeBytes = 48 << 10;
    at->second.preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  }
  *attributes = at->second;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  cudaFuncAttributes before{};
  cudaFuncGetAttributes(&before, kernel);
  const std::lock_guard lock(attributes_lock);
  cudaFuncAttributes& attributes = attributes_of_kernels[kernel];
  (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? attributes.maxDynamicSharedSizeBytes
                                                            : attributes.preferredShmemCarveout) = value;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = 2;
  return cudaSuccess;
}

}  // extern "C"
