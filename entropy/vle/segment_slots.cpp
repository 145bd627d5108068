#include "entropy/vle/stream_coder.h"

#include <algorithm>
#include <bit>

#include "cu264/status.h"

namespace cu264::vle {
namespace {

// These are enough segments to read, upload, encode, download and write at the same time. More would only
// take pinned memory.
constexpr std::size_t kDeviceSlots = 8;

std::unique_ptr<SegmentCoder> open_cuda([[maybe_unused]] int device) {
#if defined(CU264_WITH_CUDA)
  return make_cuda_coder(device);
#else
  throw Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
              "use the cpu backend, or build with CUDA");
#endif
}

}  // namespace

std::span<std::uint8_t> SegmentMemory::take(SegmentCoder& coder, std::size_t size) {
  if (size > capacity_) {
    memory_.reset();
    capacity_ = kRecordHeaderSize + std::min(std::bit_ceil(size), kSegmentSize);
    memory_ = coder.allocate(capacity_);
  }
  return {memory_.get(), size};
}

SegmentSlots::SegmentSlots(const StreamOptions& options, std::size_t count)
    : options_(options), slots_(count) {
  backend_ = "cpu", reason_ = "asked for";
  if (options.backend == BackendChoice::cpu) return;
  try {
    slots_[0].coder = open_cuda(options.device);
    backend_ = "cuda";
    slots_.resize(std::min(count, kDeviceSlots));
    if (options.backend == BackendChoice::automatic) reason_ = "a device can be used";
  } catch (const Error& error) {
    if (options.backend == BackendChoice::cuda) throw;
    reason_ = error.what();
  }
}

std::unique_ptr<SegmentCoder> SegmentSlots::open() const {
  return backend_ == "cuda" ? open_cuda(options_.device) : make_cpu_coder();
}

SegmentSlot& SegmentSlots::next() {
  SegmentSlot& slot = slots_[turn_++ % slots_.size()];
  if (!slot.coder) slot.coder = open();
  return slot;
}

}  // namespace cu264::vle
