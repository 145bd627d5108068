// Owners of CUDA's streams, events and memory, and the choice of the current device. Streams, events and
// memory belong to the device that was current when they were made.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/cuda/error_check.h"

namespace cu264 {

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

// Does not synchronise with CUDA's default stream.
class Stream {
 public:
  Stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait_for(cudaEvent_t event) const {
    check_cuda(cudaStreamWaitEvent(stream_, event, 0), "waiting on the device");
  }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  // A thread that waits for it sleeps if it `yields`, and spins otherwise, which answers sooner.
  explicit Event(bool yields = true) {
    const unsigned flags = cudaEventDisableTiming | (yields ? cudaEventBlockingSync : 0u);
    check_cuda(cudaEventCreateWithFlags(&event_, flags), "making an event");
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const {
    check_cuda(cudaEventRecord(event_, stream), "recording an event");
  }
  void wait() const { check_cuda(cudaEventSynchronize(event_), "waiting for the device"); }
  bool done() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check_cuda(status, "asking how far the device is");
    return true;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

struct FreeDeviceMemory {
  void operator()(void* d_memory) const { cudaFree(d_memory); }
};
struct FreePinnedMemory {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
using DeviceAllocation = std::unique_ptr<void, FreeDeviceMemory>;
using PinnedAllocation = std::unique_ptr<void, FreePinnedMemory>;

// Throw Error(out_of_memory) that says how much was wanted and how much there is.
DeviceAllocation allocate_device(std::size_t bytes, int device);
PinnedAllocation allocate_pinned(std::size_t bytes);

}  // namespace cu264
