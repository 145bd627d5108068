// The bits of a group's blocks, each in a place of its own, become one string: a block a lane, with atomics
// in shared memory.
//
// The string begins with all ones, and everything is what it differs from that by: most empty blocks, which
// are most blocks, are all ones and need not be put.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/group_shared.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {

// All of it by all lanes of a warp, each with a macroblock.
class GroupString {
 public:
  __device__ __forceinline__ GroupString(Shared& s, const std::uint32_t* d_spill, int lane)
      : s_(s), d_spill_(d_spill), lane_(lane) {}

  // record.before bits, the macroblock's from `begin` on. `odd`: its slots that are empty and not all ones;
  // `listed` blocks are not empty.
  __device__ __forceinline__ void write(GroupRecord& record, std::uint32_t* d_words, std::uint32_t begin,
                                        int header_length, std::uint32_t odd, int listed) {
    std::uint32_t header[kHeaderWords];
#pragma unroll
    for (int i = 0; i < kHeaderWords; ++i) {
      header[i] = left_aligned(~s_.surveyed.header[i][lane_], max(0, min(header_length - 32 * i, 32)));
    }
    clear();
    __syncwarp();
    std::uint32_t start = begin + header_length;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) {
      s_.starts[i][lane_] = static_cast<std::uint16_t>(start);
      start = __dp4a(s_.lengths[lane_][i], 0x01010101u, start);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kHeaderWords; ++i) {
      if (i < 2 || header_length > 64) put(begin + 32 * i, header[i]);
    }
    if (__any_sync(kAllLanes, put_blocks(listed))) put_ends_of_blocks(listed);
    put_odd_blocks(odd);
    __syncwarp();
    const std::uint32_t bits = record.before;
    const std::uint32_t suspect = store(d_words, static_cast<int>((bits + 31) / 32));
    record.may_escape = bits < 32 || __any_sync(kAllLanes, (suspect & 0x80808080u) != 0);
    record.zeros_first = leading_zeros(s_.string[0]);
    // Of the last 32 bits one word has bits & 31, and the word before the others.
    const std::uint32_t* const s_end = s_.string + max(bits >> 5, 1u);
    record.zeros_last = leading_zeros(__brev(__funnelshift_l(s_end[0], s_end[-1], bits)));
  }

 private:
  __device__ __forceinline__ static std::uint8_t leading_zeros(std::uint32_t word) {
    return static_cast<std::uint8_t>(min(__clz(static_cast<int>(word)), 31));
  }

  __device__ __forceinline__ void clear() const {
    constexpr int kAll = sizeof(s_.string) / sizeof(uint4);
    uint4* const s_all = reinterpret_cast<uint4*>(s_.string);
#pragma unroll
    for (int i = 0; i < kAll; i += 32) {
      if (i + 32 <= kAll || i + lane_ < kAll) s_all[i + lane_] = {~0u, ~0u, ~0u, ~0u};
    }
  }

  // Bits from `position` on that are to be zeros, the first one highest.
  __device__ __forceinline__ void put(std::uint32_t position, std::uint32_t zeros) const {
    std::uint32_t* const s_word = s_.string + (position >> 5);
    atomicXor(s_word, zeros >> (position & 31));
    atomicXor(s_word + 1, __funnelshift_r(0, zeros, position));
  }

  // Of a slot's bits, `lengths` being those of four slots with this one.
  __device__ __forceinline__ std::uint32_t start_of(int m, int slot, std::uint32_t lengths) const {
    return __dp4a(lengths & ~(~0u << (8 * (slot & 3))), 0x01010101u,
                  static_cast<std::uint32_t>(s_.starts[slot >> 2][m]));
  }

  // Their first 64 bits; true if there are more. Where lanes leave a loop with atomics one by one they stay
  // apart for long: in these loops all lanes go the last round too.
  __device__ __forceinline__ bool put_blocks(int listed) const {
    bool more = false;
#pragma unroll 1
    for (int i = lane_; i - lane_ < listed; i += 32) {
      if (i < listed) {
        const int entry = s_.list[i], m = entry >> 5, slot = entry & 31;
        const std::uint32_t lengths = s_.lengths[m][slot >> 2];
        const int length = static_cast<int>(lengths >> (8 * (slot & 3)) & 0xff);
        const std::uint32_t position = start_of(m, slot, lengths);
        std::uint32_t bits = s_.words[slot][m];
        if (length > 32) {
          const std::uint32_t* const d_spilled = d_spill_ + (bits >> 10);
          bits = d_spilled[0];
          put(position + 32, ~d_spilled[1] << max(0, 64 - length));
          more |= length > 64;
        }
        put(position, ~bits << max(0, 32 - length));
      }
    }
    return more;
  }

  __device__ __forceinline__ void put_ends_of_blocks(int listed) const {
#pragma unroll 1
    for (int i = lane_; i < listed; i += 32) {
      const int entry = s_.list[i], m = entry >> 5, slot = entry & 31;
      const std::uint32_t lengths = s_.lengths[m][slot >> 2];
      const int length = static_cast<int>(lengths >> (8 * (slot & 3)) & 0xff);
      const std::uint32_t position = start_of(m, slot, lengths);
      const std::uint32_t* const d_spilled = d_spill_ + (s_.words[slot][m] >> 10);
#pragma unroll 1
      for (int at = 64; at < length; at += 32) {
        put(position + at, ~d_spilled[at / 32] << max(0, at + 32 - length));
      }
    }
  }

  __device__ __forceinline__ void put_odd_blocks(std::uint32_t odd) const {
#pragma unroll 1
    for (; __any_sync(kAllLanes, odd != 0); odd &= odd - 1) {
      if (odd != 0) {
        const int slot = core::highest_bit(odd & (0u - odd));
        const bool dc = slot == core::kSlotChromaDc || slot == core::kSlotChromaDc + 1;
        put(start_of(lane_, slot, s_.lengths[lane_][slot >> 2]), dc ? 0x80000000u : 0xf0000000u);
      }
    }
  }

  // Words of the string to d_words. Returns bit 7 of a byte where there may be kEscapeZeros zeros: they hold
  // either two whole bytes, or one and seven bits on either side.
  __device__ __forceinline__ std::uint32_t store(std::uint32_t* d_words, int words) const {
    std::uint32_t suspect = 0;
#pragma unroll 1
    for (int word = 4 * lane_; word < words; word += 4 * 32) {
      const uint4 four = *reinterpret_cast<const uint4*>(s_.string + word);
      const std::uint32_t next = s_.string[word + 4];
      __stcg(reinterpret_cast<uint4*>(d_words + word), four);
      suspect |= zero_bytes(four.x, four.y) | zero_bytes(four.y, four.z) | zero_bytes(four.z, four.w) |
                 zero_bytes(four.w, next);
    }
    return suspect;
  }
  // Bit 7 of bytes that are zero and come before one that is at most 1; other bits are rubbish.
  __device__ __forceinline__ static std::uint32_t zero_bytes(std::uint32_t word, std::uint32_t next) {
    const std::uint32_t bytes = word | (__funnelshift_l(next, word, 8) & 0xfefefefeu);
    return (bytes - 0x01010101u) & ~bytes;
  }

  Shared& s_;
  const std::uint32_t* const d_spill_;
  const int lane_;
};

}  // namespace cu264::entropy
