#include "device_memory.h"

#include <string>

#include "cu264/status.h"

#if defined(CU264_WITH_CUDA)
#include <map>
#include <mutex>

#include "common/cuda/callers_stream.h"
#include "common/cuda/handles.h"

namespace cu264::python {
namespace {

cudaStream_t handle(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

}  // namespace

void* stream_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaStream_t> streams;  // they live as long as the process
  const std::lock_guard lock(mutex);
  cudaStream_t& stream = streams[device];
  if (stream == nullptr) {
    const CurrentDevice current(device);
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  return stream;
}

void wait_for_stream(void* stream, void* other, int device) {
  const CurrentDevice current(device);
  const CallersStream callers(handle(other));
  const auto wait_for = [stream](cudaEvent_t event) {
    check_cuda(cudaStreamWaitEvent(handle(stream), event, 0), "waiting for a stream");
  };
  if (callers.is_foreign()) {
    wait_for(CallersEvent(callers).get());
    return;
  }
  const Event event;
  event.record(callers.get());
  wait_for(event.get());
}

int device_of(const void* address) {
  return place_of(address).device;
}

std::shared_ptr<std::uint8_t> allocate_on_device(std::size_t bytes, int device, void* stream) {
  const CurrentDevice current(device);
  void* d_memory = nullptr;
  check_cuda(cudaMallocAsync(&d_memory, bytes, handle(stream)), "allocating device memory");
  return {static_cast<std::uint8_t*>(d_memory), [device, stream](std::uint8_t* d_bytes) {
            const CurrentDevice own(device, std::nothrow);
            cudaFreeAsync(d_bytes, handle(stream));
          }};
}

void copy_rows(std::uint8_t* d_to, std::int64_t to_pitch, const std::uint8_t* d_from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, int device, void* stream) {
  const CurrentDevice current(device);
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  check_cuda(cudaMemcpy2DAsync(d_to, size(to_pitch), d_from, size(from_pitch), size(row_bytes), size(rows),
                               cudaMemcpyDeviceToDevice, handle(stream)),
             "copying frames");
}

void synchronise(int device, void* stream) {
  const CurrentDevice current(device);
  check_cuda(cudaStreamSynchronize(handle(stream)), "waiting for frames");
}

void copy_to_host(void* to, const void* d_from, std::size_t bytes, int device, void* stream) {
  const CurrentDevice current(device);
  check_cuda(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, handle(stream)),
             "copying from the device");
  synchronise(device, stream);
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
               int, void*) {
  refuse();
}
void synchronise(int, void*) {
  refuse();
}
void copy_to_host(void*, const void*, std::size_t, int, void*) {
  refuse();
}

}  // namespace cu264::python

#endif
