#include "tests/parity/late_writer.h"

#include <cstdlib>

#include "common/cuda/error_check.h"
#include "common/cuda/handles.h"
#include "encoder/frame_layout.h"
#if !defined(__CUDACC__)
#include "tests/emulator/late_work.h"
#endif

namespace cu264::parity {
namespace {

#if defined(__CUDACC__)
__global__ void pass_time(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

// Nothing that the stream is given next is done within the next milliseconds.
void keep_busy(cudaStream_t stream) {
  pass_time<<<1, 1, 0, stream>>>(3'000'000);
  check_launch("pass_time");
}

void set_prompt(cudaStream_t) {}
#else
void keep_busy(cudaStream_t stream) {
  emulator::make_late(stream);
}

void set_prompt(cudaStream_t stream) {
  emulator::make_late(stream, false);
}
#endif

// Calls `each` with the lowest address of each plane and its bytes.
template <class Each>
void for_planes(const Frame& frame, const Each& each) {
  for (int p = 0; p < encoder::plane_count(frame.format); ++p) {
    const std::ptrdiff_t rows = encoder::plane_side(frame.format, p, frame.height), pitch = frame.pitch[p];
    const std::uint8_t* const lowest = frame.plane[p] + (pitch < 0 ? pitch * (rows - 1) : 0);
    each(p, const_cast<std::uint8_t*>(lowest), static_cast<std::size_t>(std::abs(pitch) * rows));
  }
}

}  // namespace

const char* name_of(LateStream stream) {
  constexpr const char* kNames[] = {"null", "legacy", "per-thread", "blocking", "non-blocking"};
  return kNames[static_cast<int>(stream)];
}

LateWriter::LateWriter(LateStream kind, int device) : kind_(kind), device_(device) {
  const DeviceGuard guard(device_);
  make_stream();
}

LateWriter::~LateWriter() {
  const DeviceGuard guard(device_);
  cudaStreamSynchronize(stream_);
  set_prompt(stream_);
  if (kind_ >= LateStream::blocking) cudaStreamDestroy(stream_);
}

void LateWriter::make_stream() {
  switch (kind_) {
    case LateStream::by_default:
      stream_ = nullptr;
      break;
    case LateStream::legacy:
      stream_ = cudaStreamLegacy;
      break;
    case LateStream::per_thread:
      stream_ = cudaStreamPerThread;
      break;
    default:
      check_cuda(cudaStreamCreateWithFlags(
                     &stream_, kind_ == LateStream::blocking ? cudaStreamDefault : cudaStreamNonBlocking),
                 "making a stream");
  }
}

void LateWriter::change_stream() {
  if (kind_ < LateStream::blocking) return;
  check_cuda(cudaStreamDestroy(stream_), "destroying a stream");
  make_stream();
}

Frame LateWriter::write(const Frame& to, const Frame& from, bool late) const {
  if (late) keep_busy(stream_);
  const std::uint8_t* lowest[3] = {};
  for_planes(from, [&](int p, std::uint8_t* d_plane, std::size_t) { lowest[p] = d_plane; });
  for_planes(to, [&](int p, std::uint8_t* d_plane, std::size_t bytes) {
    check_cuda(cudaMemcpyAsync(d_plane, lowest[p], bytes, cudaMemcpyDeviceToDevice, stream_),
               "writing a frame");
  });
  if (!late) check_cuda(cudaStreamSynchronize(stream_), "writing a frame");
  Frame frame = to;
  frame.stream = stream_;
  return frame;
}

void blank(const Frame& frame) {
  check_cuda(cudaDeviceSynchronize(), "waiting for the device");
  for_planes(frame, [&](int, std::uint8_t* d_plane, std::size_t bytes) {
    check_cuda(cudaMemset(d_plane, 0, bytes), "clearing a frame");
  });
  check_cuda(cudaDeviceSynchronize(), "waiting for the device");
}

}  // namespace cu264::parity
