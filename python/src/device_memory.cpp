#include "device_memory.h"

#include <string>

#include "cu264/status.h"

#if defined(CU264_WITH_CUDA)
#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

namespace cu264::python {
namespace {

void check(cudaError_t result, const char* doing) {
  if (result == cudaSuccess) return;
  const bool memory = result == cudaErrorMemoryAllocation;
  throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::device_failure,
              std::string(doing) + ": " + cudaGetErrorString(result));
}

}  // namespace

CurrentDevice::CurrentDevice(int device) {
  check(cudaGetDevice(&before_), "asking for the current device");
  check(cudaSetDevice(device), "choosing a device");
}

CurrentDevice::~CurrentDevice() {
  cudaSetDevice(before_);
}

void* stream_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaStream_t> streams;  // they live as long as the process
  const std::lock_guard lock(mutex);
  cudaStream_t& stream = streams[device];
  if (stream == nullptr) {
    const CurrentDevice current(device);
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  return stream;
}

void wait_for_stream(void* stream, void* other, int device) {
  const CurrentDevice current(device);
  cudaEvent_t made = nullptr;
  check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "making an event");
  const std::unique_ptr<CUevent_st, cudaError_t (*)(cudaEvent_t)> event(made, cudaEventDestroy);
  check(cudaEventRecord(event.get(), static_cast<cudaStream_t>(other)), "asking for a stream's work");
  check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream), event.get(), 0), "waiting for a stream");
}

int device_of(const void* address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, address), "asking where frames lie");
  return attributes.device;
}

std::shared_ptr<std::uint8_t> allocate_on_device(std::size_t bytes, int device, void* stream) {
  const CurrentDevice current(device);
  void* d_memory = nullptr;
  check(cudaMallocAsync(&d_memory, bytes, static_cast<cudaStream_t>(stream)), "allocating device memory");
  return {static_cast<std::uint8_t*>(d_memory),
          [stream](std::uint8_t* d_bytes) { cudaFreeAsync(d_bytes, static_cast<cudaStream_t>(stream)); }};
}

void copy_rows(std::uint8_t* d_to, std::int64_t to_pitch, const std::uint8_t* d_from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, void* stream) {
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  check(cudaMemcpy2DAsync(d_to, size(to_pitch), d_from, size(from_pitch), size(row_bytes), size(rows),
                          cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
        "copying frames");
}

void synchronise(void* stream) {
  check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for frames");
}

void copy_to_host(void* to, const void* d_from, std::size_t bytes, void* stream) {
  check(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, static_cast<cudaStream_t>(stream)),
        "copying from the device");
  synchronise(stream);
}

}  // namespace cu264::python

#else

namespace cu264::python {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::device_unavailable,
              "frames lie in device memory, but this build has no CUDA backend",
              "copy them to the host, or build with CUDA");
}

}  // namespace

CurrentDevice::CurrentDevice(int) {
  refuse();
}
CurrentDevice::~CurrentDevice() = default;

void* stream_of(int) {
  refuse();
}
void wait_for_stream(void*, void*, int) {
  refuse();
}
int device_of(const void*) {
  refuse();
}
std::shared_ptr<std::uint8_t> allocate_on_device(std::size_t, int, void*) {
  refuse();
}
void copy_rows(std::uint8_t*, std::int64_t, const std::uint8_t*, std::int64_t, std::int64_t, std::int64_t,
               void*) {
  refuse();
}
void synchronise(void*) {
  refuse();
}
void copy_to_host(void*, const void*, std::size_t, void*) {
  refuse();
}

}  // namespace cu264::python

#endif
