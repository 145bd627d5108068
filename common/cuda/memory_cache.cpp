#include "common/cuda/memory_cache.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "common/cuda/arena.h"
#include "common/cuda/handles.h"
#include "cu264/status.h"

namespace cu264 {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGranularity = 2 * kMiB;  // the driver's own for large pieces
constexpr std::size_t kSmallGranularity = 64 << 10;
constexpr std::size_t kMaxPinnedBytes = 512 * kMiB;
constexpr std::size_t kMaxDeviceBytes = 8192 * kMiB;  // and at most a quarter of the device's memory

struct Piece {
  std::uint8_t* memory = nullptr;
  std::size_t bytes = 0;
  int owner = 0;  // the device that allocated it, of page-locked memory too
};

// The memory of one device, or the page-locked memory.
struct Shelf {
  std::list<Piece> kept;  // the oldest first
  std::size_t bound = 0;
  MemoryCacheState state;
};

class Cache {
 public:
  // It is never destroyed, because owners may be destroyed later than any object of this file, and the driver
  // frees everything when the process ends.
  static Cache& instance() {
    static Cache* const cache = new Cache;
    return *cache;
  }

  Piece take(std::size_t wanted, int device) {
    const std::size_t bytes = piece_bytes(wanted);
    if (const std::optional<Piece> piece = find(bytes, device)) return *piece;
    Piece piece;
    try {
      piece = allocate(bytes, device);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      release();
      piece = allocate(bytes, device);
    }
    const std::lock_guard lock(mutex_);
    Shelf& shelf = shelf_of(device);
    shelf.state.taken_bytes += bytes;
    ++shelf.state.driver_requests;
    return piece;
  }

  void give_back(const Piece& piece, int device) {
    std::list<Piece> surplus;
    {
      const std::lock_guard lock(mutex_);
      Shelf& shelf = shelf_of(device);
      shelf.state.taken_bytes -= piece.bytes;
      shelf.state.kept_bytes += piece.bytes;
      shelf.kept.push_back(piece);
      while (shelf.state.kept_bytes > shelf.bound) {
        shelf.state.kept_bytes -= shelf.kept.front().bytes;
        surplus.splice(surplus.end(), shelf.kept, shelf.kept.begin());
      }
    }
    free(surplus, device);
  }

  void release() {
    std::map<int, std::list<Piece>> all;
    {
      const std::lock_guard lock(mutex_);
      for (auto& [device, shelf] : shelves_) {
        shelf.state.kept_bytes = 0;
        all[device].swap(shelf.kept);
      }
    }
    for (const auto& [device, pieces] : all) free(pieces, device);
  }

  MemoryCacheState state(int device) {
    const std::lock_guard lock(mutex_);
    return shelf_of(device).state;
  }

 private:
  // The smallest piece that is large enough. A piece of more than twice the bytes is left for a larger
  // request.
  std::optional<Piece> find(std::size_t bytes, int device) {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = shelf_of(device);
    auto best = shelf.kept.end();
    for (auto at = shelf.kept.begin(); at != shelf.kept.end(); ++at) {
      const bool suits = at->bytes >= bytes && at->bytes <= 2 * bytes;
      if (suits && (best == shelf.kept.end() || at->bytes < best->bytes)) best = at;
    }
    if (best == shelf.kept.end()) return std::nullopt;
    const Piece piece = *best;
    shelf.kept.erase(best);
    shelf.state.kept_bytes -= piece.bytes;
    shelf.state.taken_bytes += piece.bytes;
    return piece;
  }

  Shelf& shelf_of(int device) {
    const auto [at, added] = shelves_.try_emplace(device);
    if (added) at->second.bound = device == kPinnedMemory ? kMaxPinnedBytes : bound_of_current_device();
    return at->second;
  }

  static std::size_t bound_of_current_device() {
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) cudaGetLastError();
    return std::min(kMaxDeviceBytes, total / 4);
  }

  static Piece allocate(std::size_t bytes, int device) {
    if (device != kPinnedMemory)
      return {static_cast<std::uint8_t*>(allocate_device(bytes, device).release()), bytes, device};
    PinnedAllocation pinned = allocate_pinned(bytes);
    const int owner = pinned.get_deleter().device;
    return {static_cast<std::uint8_t*>(pinned.release()), bytes, owner};
  }

  // Errors do not matter: if the device is lost, so is its memory.
  static void free(const std::list<Piece>& pieces, int device) {
    for (const Piece& piece : pieces) {
      if (device == kPinnedMemory) {
        FreePinnedMemory{piece.owner}(piece.memory);
      } else {
        FreeDeviceMemory{piece.owner}(piece.memory);
      }
    }
    if (!pieces.empty()) cudaGetLastError();
  }

  std::mutex mutex_;
  std::map<int, Shelf> shelves_;
};

}  // namespace

CachedMemory::~CachedMemory() {
  if (memory_ != nullptr) Cache::instance().give_back({memory_, bytes_, owner_}, device_);
}

CachedMemory::CachedMemory(CachedMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      device_(other.device_),
      owner_(other.owner_) {}

CachedMemory& CachedMemory::operator=(CachedMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  std::swap(device_, other.device_);
  std::swap(owner_, other.owner_);
  return *this;
}

CachedMemory take_device(std::size_t bytes, int device) {
  const Piece piece = Cache::instance().take(bytes, device);
  return CachedMemory(piece.memory, piece.bytes, device, piece.owner);
}

CachedMemory take_pinned(std::size_t bytes) {
  const Piece piece = Cache::instance().take(bytes, kPinnedMemory);
  return CachedMemory(piece.memory, piece.bytes, kPinnedMemory, piece.owner);
}

std::size_t piece_bytes(std::size_t bytes) {
  return aligned(std::max<std::size_t>(bytes, 1), bytes < kGranularity ? kSmallGranularity : kGranularity);
}

MemoryCacheState memory_cache_state(int device) {
  return Cache::instance().state(device);
}

void release_memory_cache() {
  Cache::instance().release();
}

}  // namespace cu264
