// Keeps frames for the CUDA backend while they wait for their batch.
#include <memory>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/mark.h"
#include "encoder/cuda/uploader.h"
#include "encoder/packed_frame.h"

namespace cu264::encoder::cuda {
namespace {

class DeviceFrameHolder final : public FrameHolder {
 public:
  explicit DeviceFrameHolder(int device) : device_(device) {}

  HeldFrame hold(const Frame& frame) override {
    switch (frame.memory) {
      case MemoryKind::device:
        return mark(frame);
      case MemoryKind::pinned:
        return {frame, nullptr, nullptr};
      default:
        return copy(frame);
    }
  }

 private:
  HeldFrame copy(const Frame& frame) const {
    const DeviceGuard guard(device_);
    auto memory = std::make_shared<CachedMemory>(
        take_pinned(packed_layout(frame.format, frame.width, frame.height).bytes));
    HeldFrame held{pack_frame(frame, memory->get()), nullptr, memory};
    held.frame.memory = MemoryKind::pinned;
    return held;
  }

  HeldFrame mark(const Frame& frame) const {
    const DeviceGuard guard(device_);
    check_on_device(frame, device_);
    return {frame, marker_.mark(static_cast<cudaStream_t>(frame.stream)), nullptr};
  }

  const int device_;
  const Marker marker_;
};

}  // namespace

std::unique_ptr<FrameHolder> make_device_frame_holder(int device) {
  return std::make_unique<DeviceFrameHolder>(device);
}

}  // namespace cu264::encoder::cuda
