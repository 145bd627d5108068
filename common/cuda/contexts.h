// Which CUDA context the calling thread works in. The runtime takes whatever context is current, and a caller
// may have made one of its own current (cuCtxCreate). The library lives in the primary contexts of devices:
// all of its streams, events and memory belong to them, whoever calls.
#pragma once

#include <cuda.h>

#include <new>

namespace cu264 {

// Makes the primary context of a device current, and restores the caller's context when it is destroyed, or
// that there was none. It discards an error that the calling thread has not read, which check_launch would
// mistake for one of the library's own. If the context is current already, the driver is only asked for it.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  // For destructors. If there is no such context any more, the caller's stays.
  DeviceGuard(int device, std::nothrow_t) noexcept;
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  void enter(int device);

  bool entered_ = false;
  bool pushed_ = false;
};

// Makes any context current, and restores the one before.
class ContextGuard {
 public:
  explicit ContextGuard(CUcontext context);
  ContextGuard(CUcontext context, std::nothrow_t) noexcept;
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  bool pushed_ = false;
};

// The context of the calling thread, or null.
CUcontext current_context();
// The one that the thread has outside of all DeviceGuards, or null.
CUcontext callers_context();
int device_of(CUcontext context);

// The next DeviceGuard asks again for the primary context. cudaDeviceReset replaces it.
void forget_primary_contexts();

}  // namespace cu264
