#include "common/cuda/callers_stream.h"

#include <cstdint>

#include "common/cuda/driver_api.h"

namespace cu264 {
namespace {

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

// Null: the current context, which is the guard's.
CUcontext foreign_context_of(cudaStream_t stream) {
  const CUcontext own = current_context();
  if (is_default(stream)) {
    const CUcontext callers = callers_context();
    const bool foreign = callers != nullptr && callers != own && device_of(callers) == device_of(own);
    return foreign ? callers : nullptr;
  }
  CUcontext context = nullptr;
  const CUresult status = driver_api().get_stream_context(stream, &context);
  // A stream of a green context. Either it takes events of the primary context, or recording them fails.
  if (status == CUDA_ERROR_NOT_SUPPORTED) return nullptr;
  check_driver(status, "asking for the context of a frame's stream");
  return context != own ? context : nullptr;
}

}  // namespace

CallersStream::CallersStream(cudaStream_t stream) : stream_(stream), context_(foreign_context_of(stream)) {}

void CallersStream::wait_for(cudaEvent_t event) const {
  const ContextGuard guard(context_);
  check_driver(driver_api().wait_for_event(stream_, event, 0), "making a caller's stream wait");
}

CallersEvent::CallersEvent(const CallersStream& stream) : context_(stream.context_) {
  const DriverApi& driver = driver_api();
  const ContextGuard guard(context_);
  check_driver(driver.create_event(&event_, CU_EVENT_DISABLE_TIMING), "making an event");
  const CUresult status = driver.record_event(event_, stream.stream_);
  if (status != CUDA_SUCCESS) driver.destroy_event(event_);
  check_driver(status, "recording an event on a caller's stream");
}

CallersEvent::~CallersEvent() {
  const ContextGuard guard(context_, std::nothrow);
  driver_api().destroy_event(event_);
}

MemoryPlace place_of(const void* address) {
  unsigned type = 0, managed = 0;
  int device = -1;
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &managed, &device};
  check_driver(
      driver_api().get_pointer_attributes(3, names, values, reinterpret_cast<std::uintptr_t>(address)),
      "asking where a frame lies");
  if (managed != 0) return {false, true, device};
  return type == CU_MEMORYTYPE_DEVICE ? MemoryPlace{true, false, device} : MemoryPlace{};
}

}  // namespace cu264
