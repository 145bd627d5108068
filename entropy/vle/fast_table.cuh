// The code table of the fast encoder in shared memory: one word for each symbol, in enough copies to give
// every lane, or every second lane, banks of its own, so that look-ups have no bank conflicts.
//
// A word holds the code in its uppermost bits and the length in its lowest five. A funnel shift takes its
// distance from the lowest five bits alone, so that `append` needs no unpacking, and the sum of words has
// the sum of lengths in its lowest bits.
#pragma once

#include <cstdint>

#include "cu264/vle_types.h"

namespace cu264::vle::fast {

// All of the block's dynamic shared memory.
__device__ inline char* shared_memory() {
  extern __shared__ __align__(256) char memory[];
  return memory;
}

// Marks a symbol without a code. The lengths of a thread's symbols add up to less.
constexpr std::uint32_t kMissing = 1u << 11;
constexpr std::uint32_t kMissingBits = 0xf800;
constexpr std::uint32_t kLengthBits = kMissing - 1;

__device__ inline std::uint32_t table_word(const CodeTable& table, int symbol) {
  // std::array's member functions are host functions.
  const std::uint32_t length = reinterpret_cast<const std::uint8_t*>(&table.length)[symbol];
  const std::uint32_t code = reinterpret_cast<const std::uint32_t*>(&table.code)[symbol];
  return length == 0 || length > kShortCode ? kMissing : code << (32 - length) | length;
}

// kRow is the distance between the words of two symbols. With 256 bytes, half of which are unused, the
// offset of a look-up is a single byte permute, and 32 copies keep all lanes apart. With 64 bytes there are
// 16 copies, for GPUs with little shared memory. The table is at the beginning of the block's dynamic shared
// memory, so that its address is a constant in every look-up.
template <int kRow>
struct SharedTable {
  static_assert(kRow == 256 || kRow == 64);
  static constexpr int kCopies = kRow == 256 ? 32 : 16;
  static constexpr int kBytes = kSymbols * kRow;

  // All threads of the block must call this, before a barrier.
  __device__ static void fill(const CodeTable& table) {
    for (int symbol = threadIdx.x; symbol < kSymbols; symbol += blockDim.x) {
      const std::uint32_t word = table_word(table, symbol);
      // Each thread begins with another copy to avoid bank conflicts.
#pragma unroll 4
      for (int i = 0; i < kCopies; ++i) {
        const int copy = (i + symbol) % kCopies;
        *reinterpret_cast<std::uint32_t*>(shared_memory() + symbol * kRow + 4 * copy) = word;
      }
    }
  }

  __device__ explicit SharedTable(int lane) : column(4 * (lane % kCopies)) {}

  // The word of byte kByte of `symbols`.
  template <int kByte>
  __device__ std::uint32_t look_up(std::uint32_t symbols) const {
    std::uint32_t offset;
    if constexpr (kRow == 256) {
      offset = __byte_perm(symbols, column, 0x5504 | kByte << 4);
    } else {
      offset = (symbols >> 8 * kByte & 0xff) * kRow + column;
    }
    return *reinterpret_cast<const std::uint32_t*>(shared_memory() + offset);
  }

  std::uint32_t column;
};

}  // namespace cu264::vle::fast
