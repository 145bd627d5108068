// Memory that outlives its owner. The driver takes milliseconds to allocate device memory and, above all,
// page-locked memory, so what one owner gives back is kept for the next. The process has one cache, which any
// thread may use. It keeps a bounded amount; beyond that it returns the oldest pieces to the driver first.
// All of it belongs to the primary contexts of the devices (contexts.h), so a device's number says which
// context a piece is of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264 {

// Owns a piece of memory, and gives it back to the cache when it is destroyed. By then no device may still be
// using the memory.
class CachedMemory {
 public:
  CachedMemory() = default;
  ~CachedMemory();
  CachedMemory(CachedMemory&& other) noexcept;
  CachedMemory& operator=(CachedMemory&& other) noexcept;

  std::uint8_t* get() const { return memory_; }
  std::size_t bytes() const { return bytes_; }  // at least as many as were asked for
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  friend CachedMemory take_device(std::size_t bytes, int device);
  friend CachedMemory take_pinned(std::size_t bytes);
  CachedMemory(std::uint8_t* memory, std::size_t bytes, int device, int owner)
      : memory_(memory), bytes_(bytes), device_(device), owner_(owner) {}

  std::uint8_t* memory_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = 0;  // or kPinnedMemory
  int owner_ = 0;   // the device that allocated it
};

// Both throw an Error(out_of_memory) if neither the cache nor, once the cache has been released, the driver
// has as many bytes. A DeviceGuard must hold, for take_device of that device.
CachedMemory take_device(std::size_t bytes, int device);
CachedMemory take_pinned(std::size_t bytes);

// Returns the size of the piece that a request for `bytes` gets, unless a larger piece is kept.
std::size_t piece_bytes(std::size_t bytes);

struct MemoryCacheState {
  std::size_t kept_bytes = 0;         // in the cache
  std::size_t taken_bytes = 0;        // with their owners
  std::uint64_t driver_requests = 0;  // allocations made since the process began
};
inline constexpr int kPinnedMemory = -1;  // in place of a device
MemoryCacheState memory_cache_state(int device);

// Returns everything that the cache keeps to the driver.
void release_memory_cache();

}  // namespace cu264
