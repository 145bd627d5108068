// protect/aes.h's cipher with a table in shared memory. Each lane has a copy of the table, and all copies of
// it lie in the lane's own bank: thirty-two look-ups at once never wait for each other.
//
// That makes the time the same for all keys and data, too, which a single table's would not be.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "protect/aes.h"

namespace cu264::protect::cuda {

class AesTable {
 public:
  static constexpr int kWords = 256 * 32, kBytes = kWords * 4;

  // By all threads of a block; the caller waits for all of them.
  __device__ static void fill(std::uint32_t* s_table) {
    for (int i = static_cast<int>(threadIdx.x); i < kWords; i += static_cast<int>(blockDim.x)) {
      // SubBytes and MixColumns of a column's first byte; of the others the same, rotated.
      s_table[i] = aes_mix_column(aes_sub_byte(static_cast<std::uint32_t>(i) >> 5) << 24);
    }
  }

  __device__ AesTable(const std::uint32_t* s_table, int lane) : s_own_(s_table + lane) {}

  __device__ __forceinline__ AesBlock encrypt(const AesKey& key, const AesBlock& block) const {
    std::uint32_t a = block.words[0] ^ key.words[0], b = block.words[1] ^ key.words[1];
    std::uint32_t c = block.words[2] ^ key.words[2], d = block.words[3] ^ key.words[3];
#pragma unroll 1
    for (int round = 1; round < kAesRounds; ++round) {
      const std::uint32_t* const words = key.words + 4 * round;
      const std::uint32_t e = column(a, b, c, d) ^ words[0], f = column(b, c, d, a) ^ words[1];
      const std::uint32_t g = column(c, d, a, b) ^ words[2], h = column(d, a, b, c) ^ words[3];
      a = e, b = f, c = g, d = h;
    }
    const std::uint32_t* const words = key.words + 4 * kAesRounds;
    return {{last_column(a, b, c, d) ^ words[0], last_column(b, c, d, a) ^ words[1],
             last_column(c, d, a, b) ^ words[2], last_column(d, a, b, c) ^ words[3]}};
  }

 private:
  // Byte 0 is the least significant.
  template <int kByte>
  __device__ __forceinline__ std::uint32_t look_up(std::uint32_t word) const {
    return s_own_[(word >> (8 * kByte) & 255) * 32];
  }
  __device__ __forceinline__ static std::uint32_t rotated(std::uint32_t word) {
    return __byte_perm(word, 0, 0x0321);
  }
  __device__ __forceinline__ std::uint32_t column(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                  std::uint32_t d) const {
    const std::uint32_t later = rotated(rotated(look_up<0>(d)) ^ look_up<1>(c)) ^ look_up<2>(b);
    return look_up<3>(a) ^ rotated(later);
  }
  // Without MixColumns: an entry's middle bytes are the S-box's.
  __device__ __forceinline__ std::uint32_t last_column(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                       std::uint32_t d) const {
    const std::uint32_t upper = __byte_perm(look_up<2>(b), look_up<3>(a), 0x5200);
    return upper & 0xffff0000u | __byte_perm(look_up<0>(d), look_up<1>(c), 0x0051) & 0xffffu;
  }

  const std::uint32_t* const s_own_;
};

}  // namespace cu264::protect::cuda
