// Keeps frames for the CUDA backend while they wait for their batch.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/uploader.h"
#include "encoder/packed_frame.h"

namespace cu264::encoder::cuda {
namespace {

// Events that are used again.
struct Events {
  std::mutex mutex;
  std::vector<std::unique_ptr<Event>> free;
};

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
    check_on_device(frame, device_);
    const DeviceGuard guard(device_);
    std::unique_ptr<Event> event = take();
    event->record(static_cast<cudaStream_t>(frame.stream));
    auto give_back = [events = events_](Event* used) {
      const std::lock_guard lock(events->mutex);
      events->free.emplace_back(used);
    };
    const std::shared_ptr<Event> hold(event.release(), give_back);
    return {frame, hold->get(), hold};
  }

  std::unique_ptr<Event> take() const {
    const std::lock_guard lock(events_->mutex);
    if (events_->free.empty()) return std::make_unique<Event>();
    std::unique_ptr<Event> event = std::move(events_->free.back());
    events_->free.pop_back();
    return event;
  }

  const int device_;
  const std::shared_ptr<Events> events_ = std::make_shared<Events>();
};

}  // namespace

std::unique_ptr<FrameHolder> make_device_frame_holder(int device) {
  return std::make_unique<DeviceFrameHolder>(device);
}

}  // namespace cu264::encoder::cuda
