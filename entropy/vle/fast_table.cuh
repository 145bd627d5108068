// The code table as the fast encoder holds it in shared memory: one word a symbol, copied so that every lane,
// or every second one, has banks of its own and no two lanes' look-ups collide.
//
// A word is its own recipe: the code in the uppermost bits, its length in the lowest five. A funnel shift
// takes its distance from the lowest five bits alone, so `append` needs no unpacking, and the sum of words
// holds the sum of lengths in its lowest bits.
#pragma once

#include <cstdint>

#include "cu264/vle_types.h"

namespace cu264::vle::fast {

// All of a block's dynamic shared memory.
__device__ inline char* shared_memory() {
  extern __shared__ __align__(256) char memory[];
  return memory;
}

// A symbol without a code; the lengths of a thread's symbols add up to less.
constexpr std::uint32_t kMissing = 1u << 11;
constexpr std::uint32_t kMissingBits = 0xf800;
constexpr std::uint32_t kLengthBits = kMissing - 1;

__device__ inline std::uint32_t table_word(const CodeTable& table, int symbol) {
  // std::array's members are functions of the host.
  const std::uint32_t length = reinterpret_cast<const std::uint8_t*>(&table.length)[symbol];
  const std::uint32_t code = reinterpret_cast<const std::uint32_t*>(&table.code)[symbol];
  return length == 0 || length > kShortCode ? kMissing : code << (32 - length) | length;
}

// kRow is the distance of two symbols' words. 256 bytes, half of them unused: the offset of a look-up is a
// single byte permute, and 32 copies keep all lanes apart. 64 bytes: 16 copies, for GPUs with little shared
// memory.
// The table begins the block's dynamic shared memory: then its address is a constant in every look-up.
template <int kRow>
struct SharedTable {
  static_assert(kRow == 256 || kRow == 64);
  static constexpr int kCopies = kRow == 256 ? 32 : 16;
  static constexpr int kBytes = kSymbols * kRow;

  // By all threads of the block, before a barrier.
  __device__ static void fill(const CodeTable& table) {
    for (int symbol = threadIdx.x; symbol < kSymbols; symbol += blockDim.x) {
      const std::uint32_t word = table_word(table, symbol);
      // Each thread begins with another copy, for the banks' sake.
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
