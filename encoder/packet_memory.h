// Memory that callers gave back (Encoder::recycle), for the packets that follow. Without it each packet takes
// memory that is fresh from the system now and then, and to touch that takes longer than to copy a packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace cu264::encoder {

// Any number of threads may call it.
class PacketMemory {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // Returns an empty buffer with room for `bytes` bytes.
  std::vector<std::uint8_t> take(std::size_t bytes);

  // Keeps a buffer for take(), or frees it if more than kMostBytes would be kept.
  void give(std::vector<std::uint8_t>&& buffer);

 private:
  std::mutex mutex_;  // guards the rest
  std::vector<std::vector<std::uint8_t>> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace cu264::encoder
