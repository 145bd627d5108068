#include "encoder/packet_memory.h"

#include <iterator>
#include <new>
#include <utility>

namespace cu264 {

void PacketBytes::give_back() noexcept {
  if (const auto memory = memory_.lock()) memory->give(std::move(bytes_));
}

namespace encoder {

PacketBytes PacketMemory::take(std::size_t bytes) {
  std::vector<std::uint8_t> buffer;
  {
    const std::lock_guard lock(mutex_);
    const auto fits = kept_.lower_bound(bytes);
    if (fits != kept_.end() && fits->first <= kMaxSpareFactor * bytes) {
      buffer = remove(fits);
    } else if (fits != kept_.begin()) {
      buffer = remove(std::prev(fits));  // is too small, and a larger one takes its place
    }
  }
  if (buffer.capacity() < bytes) {
    // Packets come back, so this one gets room for those that are somewhat larger.
    const bool come_back = buffer.capacity() > 0;
    buffer = {};
    buffer.reserve(come_back ? bytes + bytes / 8 : bytes);
  }
  return PacketBytes(std::move(buffer), weak_from_this());
}

void PacketMemory::give(std::vector<std::uint8_t>&& buffer) noexcept {
  std::vector<std::uint8_t> own = std::move(buffer);
  own.clear();
  const std::size_t bytes = own.capacity();
  const std::lock_guard lock(mutex_);
  while (kept_bytes_ + bytes > kMaxBytes) {
    if (kept_.empty() || std::prev(kept_.end())->first <= bytes) return;
    remove(std::prev(kept_.end()));
  }
  try {
    kept_.emplace_hint(kept_.lower_bound(bytes), bytes, std::move(own));
    kept_bytes_ += bytes;
  } catch (const std::bad_alloc&) {
    return;  // it is freed
  }
}

std::vector<std::uint8_t> PacketMemory::remove(Kept::iterator buffer) {
  kept_bytes_ -= buffer->first;
  return std::move(kept_.extract(buffer).mapped());
}

}  // namespace encoder

}  // namespace cu264
