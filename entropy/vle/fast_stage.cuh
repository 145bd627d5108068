// From a warp's thread-codes, a column each, to the stream.
//
// Once the warp-code's place is known, every lane shifts its words to where they lie and stores them, in
// place of the columns, densely; then the warp stores whole vectors. No word is written twice and none needs
// to be zero before: a word belongs to the thread whose code completes it, which gets the bits before its own
// from its predecessor's tail.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "entropy/vle/fast_thread_code.cuh"

namespace cu264::vle::fast {

// Where the stream goes.
struct StreamMemory {
  std::uint32_t* aligned;  // at the last 128-byte boundary before the output
  std::uint32_t skew;      // words from there to the output
  std::uint64_t words;     // of the output that may be written

  __device__ StreamMemory(std::uint8_t* output, std::uint64_t capacity)
      : skew(reinterpret_cast<std::uintptr_t>(output) % 128 / 4), words(capacity / 4) {
    aligned = reinterpret_cast<std::uint32_t*>(output) - skew;
  }
};

struct WarpPlace {
  std::uint64_t position;  // of the warp-code's first bit
  std::uint32_t head;      // the 32 bits before
};

template <int kThreadSymbols>
struct Stage {
  static constexpr int kRows = kThreadSymbols * kShortCode / 32;
  static constexpr int kAlignment = 8;  // words: dense words start as a sector does
  // Two sets of columns; the dense form needs some words more, and no two dense forms exist at once.
  static constexpr int kSecond = kRows * 32 + kAlignment;
  static constexpr int kWords = kSecond + kRows * 32 + kAlignment;

  __device__ static std::uint32_t* set(std::uint32_t* stage, int parity) { return stage + parity * kSecond; }
};

// Word i of the dense form. Codes of equal length would put all lanes' words into one bank; then vectors of
// four words are exchanged within rows of 32.
template <bool kSwizzled>
__device__ inline std::uint32_t dense_index(std::uint32_t i) {
  return kSwizzled ? i ^ (i >> 3 & 28) : i;
}

__device__ inline bool all_equal(std::uint32_t value) {
  return __all_sync(kAllLanes, value == __shfl_sync(kAllLanes, value, 0));
}

// Lane's `count` words, from its column to the dense form, beginning at index `first`.
template <int kRows, bool kSwizzled>
__device__ inline void make_dense(std::uint32_t* columns, int lane, std::uint32_t head, std::uint32_t shift,
                                  std::uint32_t first, int count) {
  constexpr int kGroup = 4;
  const int most = warp_max(count);
  std::uint32_t words[kRows];
#pragma unroll
  for (int row = 0; row < kRows; row += kGroup) {
    if (row >= most) break;
#pragma unroll
    for (int i = row; i < row + kGroup; ++i) words[i] = columns[32 * i + lane];
  }
  __syncwarp();
#pragma unroll
  for (int row = 0; row < kRows; row += kGroup) {
    if (row >= most) break;
#pragma unroll
    for (int i = row; i < row + kGroup; ++i) {
      const std::uint32_t word = __funnelshift_r(words[i], i == 0 ? head : words[i - 1], shift);
      if (i < count) columns[dense_index<kSwizzled>(first + i)] = __byte_perm(word, 0, 0x0123);
    }
  }
}

// Dense words [begin, end) to memory + begin and so on; memory + 0 is aligned to a vector.
template <bool kSwizzled>
__device__ inline void store_dense(const std::uint32_t* dense, int lane, std::uint32_t begin,
                                   std::uint32_t end, std::uint32_t* memory) {
  const std::uint32_t first = ((begin + 3) & ~3u) + 4 * lane;
  uint4* to = reinterpret_cast<uint4*>(memory + first);
  for (std::uint32_t i = first; i + 4 <= end; i += 128, to += 32) {
    *to = *reinterpret_cast<const uint4*>(dense + dense_index<kSwizzled>(i));
  }
  // The first and the last vector, where they are not whole.
  const std::uint32_t i = (lane < 4 ? begin : end - 4) / 4 * 4 + lane;
  if (lane < 8 && i >= begin && i < end) memory[i] = dense[dense_index<kSwizzled>(i)];
}

struct PlacedThreadCode {
  std::uint32_t bits, tail;
  std::uint32_t offset;  // from the warp-code's beginning
  bool last_tile;        // of all
  bool last;             // the input's last symbol is the thread's
};

template <int kThreadSymbols>
__device__ inline void write_warp_code(std::uint32_t* columns, int lane, const PlacedThreadCode& code,
                                       const WarpPlace& place, const StreamMemory& memory) {
  constexpr int kRows = Stage<kThreadSymbols>::kRows;
  constexpr std::uint32_t kAlignment = Stage<kThreadSymbols>::kAlignment;
  std::uint32_t head = __shfl_up_sync(kAllLanes, code.tail, 1);
  if (lane == 0) head = place.head;

  // Words count from `base`, the last boundary before the warp-code's first word.
  const std::uint64_t first_word = (place.position >> 5) + memory.skew;
  const std::uint64_t base = first_word & ~std::uint64_t{kAlignment - 1};
  const std::uint32_t origin = static_cast<std::uint32_t>(first_word - base) * 32 + place.position % 32;
  const std::uint32_t start = origin + code.offset;
  const int count = static_cast<int>((start % 32 + code.bits) / 32);

  const bool equal = all_equal(code.bits);
  if (equal) {
    make_dense<kRows, true>(columns, lane, head, start % 32, start / 32, count);
  } else {
    make_dense<kRows, false>(columns, lane, head, start % 32, start / 32, count);
  }
  const std::uint32_t stop = start + code.bits;
  std::uint32_t end = __shfl_sync(kAllLanes, stop / 32, 31);
  if (code.last_tile && __any_sync(kAllLanes, code.last && stop % 32 != 0)) {
    // The stream's last word, incomplete.
    if (code.last) {
      const std::uint32_t bits = code.bits < 32 ? head << code.bits | code.tail : code.tail;
      const std::uint32_t word = __byte_perm(bits << (32 - stop % 32), 0, 0x0123);
      columns[equal ? dense_index<true>(stop / 32) : stop / 32] = word;
    }
    ++end;
  }
  __syncwarp();

  const std::uint64_t writable = memory.words + memory.skew;
  if (base + end > writable) end = base < writable ? static_cast<std::uint32_t>(writable - base) : 0;
  if (equal) {
    store_dense<true>(columns, lane, origin / 32, end, memory.aligned + base);
  } else {
    store_dense<false>(columns, lane, origin / 32, end, memory.aligned + base);
  }
  __syncwarp();
}

}  // namespace cu264::vle::fast
