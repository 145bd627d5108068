// Keeps memory that callers gave back (Encoder::recycle) for the packets that follow. Otherwise packets now
// and then take pages that are fresh from the system, and touching those adds to the time of a copy.
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
