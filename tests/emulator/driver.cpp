// Replaces those functions of CUDA's driver API that the library and its tests ask the runtime for.
#include "tests/emulator/driver.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/emulator/late_work.h"

namespace cu264::emulator {
namespace {

struct Context {
  unsigned long long id = 0;
};

thread_local std::vector<CUcontext> stack;  // the last is current
std::atomic<unsigned long long> contexts_made{0};

CUcontext make_context() {
  return reinterpret_cast<CUcontext>(new Context{++contexts_made});
}

CUresult of(cudaError_t status) {
  return static_cast<CUresult>(status);
}

// What is made belongs to the current context, and without one nothing works.
template <class Call>
CUresult in_any_context(const Call& call) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  return call();
}

CUresult init(unsigned) {
  return CUDA_SUCCESS;
}
CUresult get_device(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult retain_primary(CUcontext* context, CUdevice) {
  *context = primary_context();
  return CUDA_SUCCESS;
}
CUresult create(CUcontext* context, unsigned, CUdevice) {
  *context = make_context();
  stack.push_back(*context);
  return CUDA_SUCCESS;
}
CUresult destroy(CUcontext context) {
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  delete reinterpret_cast<Context*>(context);
  return CUDA_SUCCESS;
}
CUresult get_current(CUcontext* context) {
  *context = current_context();
  return CUDA_SUCCESS;
}
CUresult push(CUcontext context) {
  stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult pop(CUcontext* context) {
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
CUresult device_of_current(CUdevice* device) {
  *device = 0;
  return stack.empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}
CUresult get_id(CUcontext context, unsigned long long* id) {
  const CUcontext asked = context != nullptr ? context : current_context();
  if (asked == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *id = reinterpret_cast<const Context*>(asked)->id;
  return CUDA_SUCCESS;
}

CUresult create_stream(CUstream* stream, unsigned flags) {
  return in_any_context([&] {
    *stream = make_stream((flags & CU_STREAM_NON_BLOCKING) == 0);
    return CUDA_SUCCESS;
  });
}
CUresult destroy_a_stream(CUstream stream) {
  destroy_stream(stream);
  return CUDA_SUCCESS;
}
CUresult stream_context(CUstream stream, CUcontext* context) {
  *context = context_of(stream);
  return CUDA_SUCCESS;
}
CUresult wait_for_event(CUstream stream, CUevent event, unsigned) {
  return of(runtime::wait_for_event(stream, event));
}
CUresult synchronize(CUstream stream) {
  begin_work(stream);
  return CUDA_SUCCESS;
}
CUresult create_event(CUevent* event, unsigned) {
  return in_any_context([&] { return of(runtime::create_event(event)); });
}
CUresult record_event(CUevent event, CUstream stream) {
  return in_any_context([&] { return of(runtime::record_event(event, stream)); });
}
CUresult destroy_event(CUevent event) {
  return of(runtime::destroy_event(event));
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  return in_any_context([&] {
    void* memory = nullptr;
    const cudaError_t status = runtime::allocate(&memory, bytes);
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return of(status);
  });
}
CUresult free_memory(CUdeviceptr address) {
  return of(runtime::free_memory(reinterpret_cast<void*>(address)));
}
CUresult copy(void* to, const void* from, std::size_t bytes, CUstream stream) {
  return in_any_context([&] {
    copy_work(stream, [=] { std::memcpy(to, from, bytes); });
    return CUDA_SUCCESS;
  });
}
CUresult upload(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy(reinterpret_cast<void*>(to), from, bytes, stream);
}
CUresult download(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(to, reinterpret_cast<const void*>(from), bytes, stream);
}
CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, stream);
}
CUresult set_memory(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  return in_any_context([&] {
    copy_work(stream, [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
    return CUDA_SUCCESS;
  });
}
// The type is that of device memory or none, nothing is managed, and there is one device.
CUresult pointer_attributes(unsigned count, CUpointer_attribute* names, void** values, CUdeviceptr address) {
  for (unsigned i = 0; i < count; ++i) {
    const bool on_device = runtime::is_device_memory(reinterpret_cast<const void*>(address));
    *static_cast<unsigned*>(values[i]) =
        names[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && on_device ? CU_MEMORYTYPE_DEVICE : 0;
  }
  return CUDA_SUCCESS;
}

struct Entry {
  const char* name;
  void* function;
};

template <class Function>
Entry entry(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

const Entry kEntries[] = {
    entry("cuInit", init),
    entry("cuDeviceGet", get_device),
    entry("cuDevicePrimaryCtxRetain", retain_primary),
    entry("cuCtxCreate", create),
    entry("cuCtxDestroy", destroy),
    entry("cuCtxGetCurrent", get_current),
    entry("cuCtxPushCurrent", push),
    entry("cuCtxPopCurrent", pop),
    entry("cuCtxGetDevice", device_of_current),
    entry("cuCtxGetId", get_id),
    entry("cuStreamCreate", create_stream),
    entry("cuStreamDestroy", destroy_a_stream),
    entry("cuStreamGetCtx", stream_context),
    entry("cuStreamWaitEvent", wait_for_event),
    entry("cuStreamSynchronize", synchronize),
    entry("cuEventCreate", create_event),
    entry("cuEventRecord", record_event),
    entry("cuEventDestroy", destroy_event),
    entry("cuMemAlloc", allocate),
    entry("cuMemFree", free_memory),
    entry("cuMemcpyHtoDAsync", upload),
    entry("cuMemcpyDtoHAsync", download),
    entry("cuMemcpyDtoDAsync", copy_on_device),
    entry("cuMemsetD8Async", set_memory),
    entry("cuPointerGetAttributes", pointer_attributes),
};

cudaError_t find(const char* name, void** function, cudaDriverEntryPointQueryResult* result) {
  *function = nullptr;
  for (const Entry& candidate : kEntries) {
    if (std::strcmp(candidate.name, name) == 0) *function = candidate.function;
  }
  *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

}  // namespace

CUcontext current_context() {
  return stack.empty() ? nullptr : stack.back();
}

CUcontext primary_context() {
  static const CUcontext context = make_context();
  return context;
}

void use_context(const char* call) {
  if (stack.empty()) stack.push_back(primary_context());
  if (stack.back() == primary_context()) return;
  std::fprintf(stderr, "%s: a context of the caller's own is current\n", call);
  std::abort();
}

}  // namespace cu264::emulator

extern "C" {

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return cu264::emulator::find(name, function, result);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return cu264::emulator::find(name, function, result);
}
#endif

}  // extern "C"
