#include "encoder/packet_memory.h"

#include <utility>

namespace cu264::encoder {

std::vector<std::uint8_t> PacketMemory::take(std::size_t bytes) {
  std::vector<std::uint8_t> buffer;
  {
    const std::lock_guard lock(mutex_);
    if (!kept_.empty()) {
      buffer = std::move(kept_.back());
      kept_.pop_back();
      kept_bytes_ -= buffer.capacity();
    }
  }
  if (buffer.capacity() >= bytes) return buffer;
  // The buffer will come back, so it gets room for packets that are somewhat larger.
  const bool returns = buffer.capacity() > 0;
  buffer = {};
  buffer.reserve(returns ? bytes + bytes / 8 : bytes);
  return buffer;
}

void PacketMemory::give(std::vector<std::uint8_t>&& buffer) {
  std::vector<std::uint8_t> own = std::move(buffer);
  if (own.capacity() == 0) return;
  own.clear();
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + own.capacity() > kMostBytes) return;
  kept_bytes_ += own.capacity();
  kept_.push_back(std::move(own));
}

}  // namespace cu264::encoder
