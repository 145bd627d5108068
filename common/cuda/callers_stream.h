// Streams that the library's caller hands in. They may belong to a context of the caller's own (contexts.h),
// in which the library has neither streams nor events.
#pragma once

#include <cuda_runtime_api.h>

#include "common/cuda/contexts.h"

namespace cu264 {

// To be made within a DeviceGuard.
class CallersStream {
 public:
  // Null and the handles of CUDA's default streams stand for those of the caller's context, if that is of the
  // guard's device. Otherwise they stand for those of the device's primary context.
  explicit CallersStream(cudaStream_t stream);

  cudaStream_t get() const { return stream_; }
  // Returns whether the stream is of another context than the guard's. The runtime cannot record an event of
  // the library there, nor launch a kernel.
  bool is_foreign() const { return context_ != nullptr; }
  // Makes what a foreign stream is given from now on wait for an event of any context.
  void wait_for(cudaEvent_t event) const;

 private:
  friend class CallersEvent;
  cudaStream_t stream_;
  CUcontext context_ = nullptr;  // of a foreign stream
};

// An event of the stream's context, after the work that a foreign stream has been given so far: an event and
// the stream that it is recorded on must be of one context, but streams of any context can wait for it.
class CallersEvent {
 public:
  explicit CallersEvent(const CallersStream& stream);
  ~CallersEvent();
  CallersEvent(const CallersEvent&) = delete;
  CallersEvent& operator=(const CallersEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  CUcontext context_;
  CUevent event_ = nullptr;
};

// The kind of memory that an address lies in, whatever context allocated it.
struct MemoryPlace {
  bool on_device = false;  // and not managed
  bool managed = false;
  int device = -1;  // of device memory
};
MemoryPlace place_of(const void* address);

}  // namespace cu264
