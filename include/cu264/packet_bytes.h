// The bytes of a packet, in memory that later packets use again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cu264 {

namespace encoder {
class PacketMemory;
}

// Owns its bytes. When it is destroyed or assigned to, their memory goes back to the encoder or the group
// that the packet came from, which keeps up to 64 MiB; if that is gone, the memory is freed. Packets may
// outlive their encoder, and each may be moved to, read and destroyed by any thread, one at a time.
//
// It is a contiguous range of constant bytes, so it converts to std::span<const std::uint8_t>.
class PacketBytes {
 public:
  using value_type = std::uint8_t;
  using const_iterator = const std::uint8_t*;
  using iterator = const_iterator;

  PacketBytes() noexcept = default;
  // Bytes of the caller's own, whose memory is freed.
  PacketBytes(std::vector<std::uint8_t>&& bytes) noexcept : bytes_(std::move(bytes)) {}
  // What was moved from is empty.
  PacketBytes(PacketBytes&& other) noexcept = default;
  // A copy is like bytes of the caller's own.
  PacketBytes(const PacketBytes& other) : bytes_(other.bytes_) {}
  PacketBytes& operator=(PacketBytes other) noexcept {
    bytes_.swap(other.bytes_);
    memory_.swap(other.memory_);
    return *this;
  }
  ~PacketBytes() {
    if (bytes_.capacity() > 0) give_back();
  }

  const std::uint8_t* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return bytes_.size(); }
  bool empty() const noexcept { return bytes_.empty(); }
  const_iterator begin() const noexcept { return data(); }
  const_iterator end() const noexcept { return data() + size(); }
  const std::uint8_t& operator[](std::size_t i) const { return bytes_[i]; }

  // The bytes, to be changed where they are, as insert_sei does.
  std::vector<std::uint8_t>& vector() noexcept { return bytes_; }

  // Takes the bytes out without a copy: std::move(packet.data).release(). Their memory does not go back.
  std::vector<std::uint8_t> release() && noexcept { return std::move(bytes_); }

  friend bool operator==(const PacketBytes& a, const PacketBytes& b) { return a.bytes_ == b.bytes_; }

 private:
  friend class encoder::PacketMemory;
  PacketBytes(std::vector<std::uint8_t>&& bytes, std::weak_ptr<encoder::PacketMemory> memory) noexcept
      : bytes_(std::move(bytes)), memory_(std::move(memory)) {}
  void give_back() noexcept;

  std::vector<std::uint8_t> bytes_;
  std::weak_ptr<encoder::PacketMemory> memory_;  // empty: the bytes are the caller's own
};

}  // namespace cu264
