#include "common/cuda/contexts.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <string>

#include "common/cuda/driver_api.h"
#include "cu264/status.h"

namespace cu264 {
namespace {

constexpr int kMaxDevices = 256;
std::array<std::atomic<CUcontext>, kMaxDevices> primary_contexts;

// The context is never released, as the runtime does not release it either: memory that the library keeps
// lives in it.
CUcontext primary_context(int device) {
  if (device < 0 || device >= kMaxDevices)
    throw Error(ErrorCode::device_unavailable, "there is no CUDA device " + std::to_string(device));
  std::atomic<CUcontext>& known = primary_contexts[static_cast<std::size_t>(device)];
  if (const CUcontext context = known.load(std::memory_order_acquire)) return context;
  const DriverApi& driver = driver_api();
  CUdevice handle = 0;
  check_driver(driver.get_device(&handle, device), "selecting the device");
  CUcontext context = nullptr;
  check_driver(driver.retain_primary_context(&context, handle), "selecting the device");
  known.store(context, std::memory_order_release);
  return context;
}

// How many DeviceGuards the thread is within, and the context that it had outside of them.
thread_local int guards = 0;
thread_local CUcontext context_outside = nullptr;

void push(CUcontext context) {
  check_driver(driver_api().push_context(context), "selecting a context");
}

void pop() {
  CUcontext popped = nullptr;
  driver_api().pop_context(&popped);
}

}  // namespace

DeviceGuard::DeviceGuard(int device) {
  enter(device);
}

DeviceGuard::DeviceGuard(int device, std::nothrow_t) noexcept {
  try {
    enter(device);
  } catch (...) {  // the device is lost
  }
}

void DeviceGuard::enter(int device) {
  const CUcontext primary = primary_context(device), before = current_context();
  if (before != primary) {
    push(primary);
    pushed_ = true;
  }
  if (guards++ == 0) context_outside = before;
  entered_ = true;
  cudaGetLastError();
}

DeviceGuard::~DeviceGuard() {
  if (pushed_) pop();
  if (entered_) --guards;
}

ContextGuard::ContextGuard(CUcontext context) : pushed_(true) {
  push(context);
}

ContextGuard::ContextGuard(CUcontext context, std::nothrow_t) noexcept
    : pushed_(driver_api().push_context(context) == CUDA_SUCCESS) {}

ContextGuard::~ContextGuard() {
  if (pushed_) pop();
}

CUcontext current_context() {
  CUcontext context = nullptr;
  check_driver(driver_api().get_current_context(&context), "asking for the current context");
  return context;
}

CUcontext callers_context() {
  return guards > 0 ? context_outside : current_context();
}

int device_of(CUcontext context) {
  const ContextGuard guard(context);
  CUdevice device = 0;
  check_driver(driver_api().get_device_of_context(&device), "asking for the device of a context");
  return device;
}

void forget_primary_contexts() {
  for (std::atomic<CUcontext>& context : primary_contexts) context = nullptr;
}

}  // namespace cu264
