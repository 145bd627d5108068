// Keeps the memory of packets that were destroyed for those that follow. Otherwise packets now and then take
// pages that are fresh from the system, and touching those adds to the time of a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cu264/packet_bytes.h"

namespace cu264::encoder {

// An encoder or a group owns it, and packets only know of it, so that a packet which outlives them holds no
// memory but its own. Any number of threads may call it. A std::shared_ptr must own it.
class PacketMemory : public std::enable_shared_from_this<PacketMemory> {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  // A small packet that the caller keeps shall not keep the memory of a large one: no buffer has more than so
  // many times the room that is asked for.
  static constexpr std::size_t kMaxSpareFactor = 4;

  // Returns an empty buffer with room for `bytes` bytes. Its memory comes back when it is destroyed.
  PacketBytes take(std::size_t bytes);

 private:
  friend class cu264::PacketBytes;

  // Keeps a buffer for take(). Where more than kMaxBytes would be kept, it frees the largest.
  void give(std::vector<std::uint8_t>&& buffer) noexcept;

  using Kept = std::multimap<std::size_t, std::vector<std::uint8_t>>;  // by capacity

  // Takes a buffer out.
  std::vector<std::uint8_t> remove(Kept::iterator buffer);

  std::mutex mutex_;  // guards the rest
  Kept kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace cu264::encoder
