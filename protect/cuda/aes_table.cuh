// The cipher of protect/aes.h with a table in shared memory. Each lane has a copy of the table in its own
// bank, so thirty-two look-ups at once never wait for each other.
//
// The time is therefore the same for all keys and data, which a single table could not achieve.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "protect/aes.h"

namespace cu264::protect::cuda {

// kTables is 1, 2 (each entry is followed by a copy rotated by two bytes) or 4 (all rotations). More tables
// take more memory and fewer instructions: one byte permutation gives an entry's address, and fewer rotations
// are needed.
template <int kTables>
class AesTable {
 public:
  static constexpr int kStride = kTables > 1 ? 256 : 128;  // bytes from one entry to the next
  static constexpr int kBytes = 256 * 128 * kTables, kWords = kBytes / 4;

  // All threads of a block call it, in whole warps; the caller synchronises them afterwards.
  __device__ static void fill(std::uint32_t* s_table) {
    const int lane = static_cast<int>(threadIdx.x) & 31, warps = static_cast<int>(blockDim.x) >> 5;
    for (int first = static_cast<int>(threadIdx.x) & ~31; first < 256; first += 32 * warps) {
      // This is SubBytes and MixColumns of a column's first byte; those of the other bytes are rotations of
      // it.
      const std::uint32_t own = aes_mix_column(aes_sub_byte(static_cast<std::uint32_t>(first + lane)) << 24);
      for (int i = 0; i < 32; ++i) {
        const std::uint32_t entry = __shfl_sync(0xffffffffu, own, i);
        std::uint32_t* const s_entry = s_table + (first + i) * (kStride / 4) + lane;
        s_entry[0] = entry;
        if constexpr (kTables > 1) s_entry[32] = __byte_perm(entry, 0, 0x1032);
        if constexpr (kTables > 2) {
          s_entry[kHalf / 4] = __byte_perm(entry, 0, 0x0321);
          s_entry[kHalf / 4 + 32] = __byte_perm(entry, 0, 0x2103);
        }
      }
    }
  }

  __device__ AesTable(const std::uint32_t* s_table, int lane)
      : s_table_(reinterpret_cast<const std::uint8_t*>(s_table)),
        lane_offset_(static_cast<std::uint32_t>(4 * lane)) {}

  __device__ __forceinline__ AesBlock encrypt(const AesKey& key, const AesBlock& block) const {
    std::uint32_t a = block.words[0] ^ key.words[0], b = block.words[1] ^ key.words[1];
    std::uint32_t c = block.words[2] ^ key.words[2], d = block.words[3] ^ key.words[3];
#pragma unroll
    for (int round = 1; round < kAesRounds; ++round) {
      const std::uint32_t* const words = key.words + 4 * round;
      const std::uint32_t e = column(a, b, c, d, words[0]), f = column(b, c, d, a, words[1]);
      const std::uint32_t g = column(c, d, a, b, words[2]), h = column(d, a, b, c, words[3]);
      a = e, b = f, c = g, d = h;
    }
    const std::uint32_t* const words = key.words + 4 * kAesRounds;
    return {{last_column(a, b, c, d) ^ words[0], last_column(b, c, d, a) ^ words[1],
             last_column(c, d, a, b) ^ words[2], last_column(d, a, b, c) ^ words[3]}};
  }

 private:
  static constexpr int kHalf = 256 * 256;  // bytes of two tables

  // Byte 0 is the least significant.
  template <int kByte>
  __device__ __forceinline__ std::uint32_t look_up(std::uint32_t word, int offset = 0) const {
    std::uint32_t at;
    if constexpr (kTables > 1) {
      at = __byte_perm(word, lane_offset_, 0x5504 | kByte << 4);
    } else {
      at = ((kByte == 0 ? word << 7 : word >> (8 * kByte - 7)) & 0x7f80) | lane_offset_;
    }
    return *reinterpret_cast<const std::uint32_t*>(s_table_ + at + offset);
  }
  __device__ __forceinline__ static std::uint32_t rotated(std::uint32_t word) {
    return __byte_perm(word, 0, 0x0321);
  }
  __device__ __forceinline__ std::uint32_t column(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                  std::uint32_t d, std::uint32_t key) const {
    if constexpr (kTables == 4) {
      return look_up<3>(a) ^ look_up<2>(b, kHalf) ^ look_up<1>(c, 128) ^ look_up<0>(d, kHalf + 128) ^ key;
    } else if constexpr (kTables == 2) {
      return look_up<3>(a) ^ look_up<1>(c, 128) ^ key ^ rotated(look_up<2>(b) ^ look_up<0>(d, 128));
    } else {
      const std::uint32_t later = rotated(rotated(look_up<0>(d)) ^ look_up<1>(c)) ^ look_up<2>(b);
      return look_up<3>(a) ^ key ^ rotated(later);
    }
  }
  // The last round has no MixColumns: an entry's middle bytes are the S-box's.
  __device__ __forceinline__ std::uint32_t last_column(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                       std::uint32_t d) const {
    const std::uint32_t upper = __byte_perm(look_up<2>(b), look_up<3>(a), 0x5100);
    const std::uint32_t lower = __byte_perm(look_up<0>(d), look_up<1>(c), 0x0051);
    return __byte_perm(lower, upper, 0x7610);
  }

  const std::uint8_t* const s_table_;
  const std::uint32_t lane_offset_;
};

}  // namespace cu264::protect::cuda
