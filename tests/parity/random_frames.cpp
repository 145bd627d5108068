#include "tests/parity/random_frames.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/error_check.h"
#include "encoder/frame_layout.h"
#include "tests/parity/late_copy.h"

namespace cu264::parity {
namespace {

constexpr int kMicrosecondsLate = 300;

// The lowest address of a plane.
const std::uint8_t* begin_of(const Frame& frame, int plane, std::size_t bytes) {
  const std::ptrdiff_t pitch = frame.pitch[plane];
  return frame.plane[plane] - (pitch < 0 ? static_cast<std::ptrdiff_t>(bytes) + pitch : 0);
}

}  // namespace

FrameSource::FrameSource(const RandomClip& clip, const FramePlacement& placement, bool on_device)
    : clip_(clip) {
  const MemoryKind memory = on_device ? placement.memory : MemoryKind::host;
  late_ = memory == MemoryKind::device && placement.written_late;
  for (const test::Picture& picture : clip.pictures) {
    planes_.emplace_back(picture, placement.format, placement.padding, placement.bottom_up);
    pictures_.emplace_back(planes_.back(), memory);
  }
  if (memory != MemoryKind::device) return;
  using Stream = FramePlacement::Stream;
  switch (placement.stream) {
    case Stream::null:
      break;
    case Stream::legacy:
      stream_ = cudaStreamLegacy;
      break;
    case Stream::per_thread:
      stream_ = cudaStreamPerThread;
      break;
    case Stream::blocking:
    case Stream::non_blocking: {
      cudaStream_t made = nullptr;
      const bool blocking = placement.stream == Stream::blocking;
      check_cuda(cudaStreamCreateWithFlags(&made, blocking ? cudaStreamDefault : cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags");
      stream_ = made, owns_stream_ = true;
    }
  }
  // Uploads were made on the default stream, where they may still be under way.
  if (placement.stream != Stream::null) check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

FrameSource::~FrameSource() {
  if (owns_stream_) cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

Frame FrameSource::frame(int i) {
  const std::size_t picture = static_cast<std::size_t>(i) % pictures_.size();
  Frame frame = pictures_[picture].view(3 * i + 1);
  if (late_) {
    // Until then the memory holds something else.
    FramePlanes other = planes_[picture];
    for (std::vector<std::uint8_t>& plane : other.plane) {
      for (std::uint8_t& byte : plane) byte = static_cast<std::uint8_t>(~byte);
    }
    written_late_.emplace_back(other, MemoryKind::device);
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const Frame from = frame;
    frame = written_late_.back().view(from.pts);
    for (int p = 0; p < encoder::plane_count(frame.format); ++p) {
      const std::size_t bytes = other.plane[p].size();
      copy_late(const_cast<std::uint8_t*>(begin_of(frame, p, bytes)), begin_of(from, p, bytes), bytes,
                p == 0 ? kMicrosecondsLate : 0, stream_);
    }
  }
  frame.stream = stream_;
  if (const auto qp = clip_.qps.find(i); qp != clip_.qps.end()) frame.qp = qp->second;
  frame.key = clip_.keys.count(i) != 0;
  return frame;
}

}  // namespace cu264::parity
