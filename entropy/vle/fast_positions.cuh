// Computes where tiles begin in the stream: GVLE's inter-block scan (GVLE 3.4.1), whose look-back is done by
// a whole warp.
//
// The sums of 32 consecutive tiles form a segment. A tile adds its length to its own element of the segment
// and to all later ones. An element is complete when as many additions were made as the segment has tiles up
// to it. When the sum of everything up to a segment is known, its last element becomes that sum.
#pragma once

#include <cstdint>
#include <cuda/atomic>

namespace cu264::vle::fast {

class TilePositions {
 public:
  static constexpr int kSegment = 32;

  // There is an element for every tile, up to a multiple of 32, and all are zero at the beginning.
  __device__ explicit TilePositions(std::uint64_t* elements) : elements_(elements) {}

  // A whole warp must call this, once for each tile.
  __device__ void add(std::uint32_t tile, std::uint32_t bits, int lane) {
    if (lane >= static_cast<int>(tile % kSegment)) {
      element(tile / kSegment * kSegment + lane).fetch_add(kOne | bits, cuda::memory_order_relaxed);
    }
  }

  // Returns the position of a tile that was added. A whole warp must call this.
  __device__ std::uint64_t find(std::uint32_t tile, std::uint32_t bits, int lane) {
    const std::uint32_t in_segment = tile % kSegment, segment = tile / kSegment;
    // Lane 31 reads the tile before, lane 30 the segment before, and so on.
    std::uint64_t position = 0;
    if (lane == 31 && in_segment != 0) {
      position = wait(element(tile - 1), in_segment) & kValue;
    }
    bool known = segment == 0;
    for (std::uint32_t behind = segment; !known; behind -= kSegment - 1) {
      const std::uint32_t back = 30 - lane;  // wraps for lane 31, which takes no part
      std::uint64_t sum = 0;
      bool total = false;
      if (lane < 31 && back < behind) {
        sum = wait(element((behind - back) * kSegment - 1), kSegment);
        total = (sum & kTotal) != 0 || back + 1 == behind;
      }
      const unsigned totals = __ballot_sync(0xffffffff, total);
      // Only the nearest total counts, and what follows it.
      if (lane < 31 && lane >= 31 - __clz(totals)) position += sum & kValue;
      known = totals != 0;
    }
    for (int distance = 16; distance != 0; distance /= 2) {
      position += __shfl_xor_sync(0xffffffff, position, distance);
    }
    if (in_segment == kSegment - 1 && lane == 0) {
      element(tile).store(kTotal | (position + bits), cuda::memory_order_relaxed);
    }
    return position;
  }

 private:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 57;
  static constexpr std::uint64_t kValue = kOne - 1;
  static constexpr std::uint64_t kTotal = std::uint64_t{1} << 63;
  using Element = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;

  __device__ Element element(std::uint32_t i) const { return Element(elements_[i]); }

  __device__ static std::uint64_t wait(Element element, std::uint32_t additions) {
    while (true) {
      const std::uint64_t value = element.load(cuda::memory_order_relaxed);
      if ((value & kTotal) != 0 || (value >> 57 & 63) == additions) return value;
      __nanosleep(40);
    }
  }

  std::uint64_t* elements_;
};

}  // namespace cu264::vle::fast
