// Owners of CUDA streams, events and memory. They belong to the context that was current when they were made,
// which in the library is always the primary context of a device (contexts.h). They may be destroyed whatever
// context is current.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/cuda/contexts.h"
#include "common/cuda/error_check.h"

namespace cu264 {

int current_device();

// A stream that does not synchronise with CUDA's default stream.
class Stream {
 public:
  // Thread blocks on a stream of high priority start before those on others.
  enum class Priority { normal, high };
  explicit Stream(Priority priority = Priority::normal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void wait_for(cudaEvent_t event) const {
    check_cuda(cudaStreamWaitEvent(stream_, event, 0), "waiting on the device");
  }

 private:
  const int device_;
  cudaStream_t stream_ = nullptr;
};

// Returns whether the work before the event is done.
inline bool has_happened(cudaEvent_t event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status == cudaErrorNotReady) return false;
  check_cuda(status, "querying an event");
  return true;
}

class Event {
 public:
  // With `yields` a thread sleeps while it waits for the event. Otherwise it spins, which has less latency.
  explicit Event(bool yields = true);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream) const {
    check_cuda(cudaEventRecord(event_, stream), "recording an event");
  }
  void wait() const { check_cuda(cudaEventSynchronize(event_), "waiting for the device"); }
  bool done() const { return has_happened(event_); }

 private:
  const int device_;
  cudaEvent_t event_ = nullptr;
};

struct FreeDeviceMemory {
  int device = 0;
  void operator()(void* d_memory) const;
};
struct FreePinnedMemory {
  int device = 0;
  void operator()(void* memory) const;
};
using DeviceAllocation = std::unique_ptr<void, FreeDeviceMemory>;
using PinnedAllocation = std::unique_ptr<void, FreePinnedMemory>;

// Both throw an Error(out_of_memory) that says how much was wanted and, for a device, how much is free. The
// device must be current.
DeviceAllocation allocate_device(std::size_t bytes, int device);
PinnedAllocation allocate_pinned(std::size_t bytes);

}  // namespace cu264
