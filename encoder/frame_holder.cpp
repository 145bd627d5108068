#include "encoder/frame_holder.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "encoder/packed_frame.h"

namespace cu264::encoder {
namespace {

using Buffer = std::vector<std::uint8_t>;

// Buffers are reused, because fresh memory is slow to touch.
struct Buffers {
  std::mutex mutex;
  std::vector<Buffer> free;
};

class HostFrameHolder final : public FrameHolder {
 public:
  HeldFrame hold(const Frame& frame) override {
    HeldFrame held;
    if (frame.memory == MemoryKind::pinned) {
      held.frame = frame;
      return held;
    }
    Buffer buffer = take();
    buffer.resize(packed_layout(frame.format, frame.width, frame.height).bytes);
    held.frame = pack_frame(frame, buffer.data());
    auto give_back = [buffers = buffers_](Buffer* used) {
      const std::lock_guard lock(buffers->mutex);
      buffers->free.push_back(std::move(*used));
      delete used;
    };
    held.hold = std::shared_ptr<Buffer>(new Buffer(std::move(buffer)), give_back);
    return held;
  }

 private:
  Buffer take() const {
    const std::lock_guard lock(buffers_->mutex);
    if (buffers_->free.empty()) return {};
    Buffer buffer = std::move(buffers_->free.back());
    buffers_->free.pop_back();
    return buffer;
  }

  const std::shared_ptr<Buffers> buffers_ = std::make_shared<Buffers>();
};

}  // namespace

std::unique_ptr<FrameHolder> make_host_frame_holder() {
  return std::make_unique<HostFrameHolder>();
}

}  // namespace cu264::encoder
