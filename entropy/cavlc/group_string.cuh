// The bits of a group's blocks, each in a place of its own, become one string: a block a lane, with atomics
// on a part of the string in shared memory, a window.
//
// A window begins with all ones, and everything is what it differs from that by: most empty blocks, which are
// most blocks, are all ones and need not be put.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/group_shared.cuh"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {

// All of it by all lanes of a warp, each with a macroblock.
class GroupString {
 public:
  __device__ __forceinline__ GroupString(Shared& s, const std::uint32_t* d_spill, std::uint32_t* d_words,
                                         int lane)
      : s_(s), d_spill_(d_spill), d_words_(d_words), lane_(lane) {}

  // `length`: the macroblock's bits; `odd`: its slots that are empty and not all ones; `listed` blocks are
  // not empty.
  __device__ __forceinline__ void write(GroupRecord& record, int header_length, int length, std::uint32_t odd,
                                        int listed) {
    std::uint32_t end = static_cast<std::uint32_t>(length);
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const std::uint32_t before = __shfl_up_sync(kEveryLane, end, step);
      if (lane_ >= step) end += before;
    }
    const std::uint32_t bits = __shfl_sync(kEveryLane, end, 31);
    std::uint32_t begin = end - static_cast<std::uint32_t>(length), header[kHeaderWords];
#pragma unroll
    for (int i = 0; i < kHeaderWords; ++i) {
      header[i] = left_aligned(~s_.surveyed.header[i][lane_], max(0, min(header_length - 32 * i, 32)));
    }
    __syncwarp();
    auto start = static_cast<std::uint32_t>(header_length);
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) {
      s_.starts[i][lane_] = static_cast<std::uint16_t>(start);
      start = __dp4a(s_.lengths[lane_][i], 0x01010101u, start);
    }
    record.before = bits;
    const auto words = static_cast<int>((bits + 31) / 32);
    std::uint32_t suspect = bits < 32 ? 0x80u : 0;
#pragma unroll 1
    for (int first = 0; first < words; first += kWindowWords, begin -= 32 * kWindowWords) {
      clear();
      s_.joining.begins[lane_] = begin;
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kHeaderWords; ++i) {
        if (i < 2 || header_length > 64) put(begin + 32 * i, header[i]);
      }
      if (__any_sync(kEveryLane, put_blocks(listed))) put_ends_of_blocks(listed);
      put_odd_blocks(odd);
      if (lane_ < 4) {  // what the last four words have too much
        const std::uint32_t last = bits - 32 * first;
        put((last & ~31u) + 32 * lane_, lane_ == 0 ? ~0u >> (last & 31) : ~0u);
      }
      __syncwarp();
      if (first == 0) record.zeros_first = static_cast<std::uint8_t>(min(__clz(static_cast<int>(at(0))), 31));
      if (first + kWindowWords >= words) record.zeros_last = zeros_last(bits, first);
      suspect |= store(first, words);
      __syncwarp();
    }
    record.may_escape = __any_sync(kEveryLane, (suspect & 0x80808080u) != 0);
  }

 private:
  static constexpr unsigned kEveryLane = 0xffffffffu;

  __device__ __forceinline__ std::uint32_t& at(int word) const {
    return s_.joining.window[kWindowFirst + word];
  }

  __device__ __forceinline__ void clear() const {
    constexpr int kAll = sizeof(s_.joining.window) / sizeof(uint4);
    uint4* const s_all = reinterpret_cast<uint4*>(s_.joining.window);
#pragma unroll
    for (int i = 0; i < kAll; i += 32) {
      if (i + 32 <= kAll || i + lane_ < kAll) s_all[i + lane_] = {~0u, ~0u, ~0u, ~0u};
    }
  }

  // Bits from `position` in the window on that are to be zeros, the first one highest. What belongs elsewhere
  // ends in words before and behind the window.
  __device__ __forceinline__ void put(std::uint32_t position, std::uint32_t zeros) const {
    const auto word = static_cast<std::uint32_t>((static_cast<std::int32_t>(position) >> 5) + 1);
    std::uint32_t* const s_word = s_.joining.window + kWindowFirst - 1 + min(word, kWindowWords + 1u);
    atomicXor(s_word, zeros >> (position & 31));
    atomicXor(s_word + 1, __funnelshift_r(0, zeros, position));
  }

  // Of a slot's bits in the window, `lengths` being those of four slots with this one.
  __device__ __forceinline__ std::uint32_t start_of(int m, int slot, std::uint32_t lengths) const {
    return __dp4a(lengths & ~(~0u << (8 * (slot & 3))), 0x01010101u,
                  s_.joining.begins[m] + s_.starts[slot >> 2][m]);
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
    for (; __any_sync(kEveryLane, odd != 0); odd &= odd - 1) {
      if (odd != 0) {
        const int slot = core::highest_bit(odd & (0u - odd));
        const bool dc = slot == core::kSlotChromaDc || slot == core::kSlotChromaDc + 1;
        put(start_of(lane_, slot, s_.lengths[lane_][slot >> 2]), dc ? 0x80000000u : 0xf0000000u);
      }
    }
  }

  // Of the string's end, as far as this window, which begins with word `first`, shows.
  __device__ __forceinline__ std::uint8_t zeros_last(std::uint32_t bits, int first) const {
    const int word = static_cast<int>(bits >> 5) - first - 1;  // which the last 32 bits begin in
    if (word < 0 || word + 1 >= kWindowWords) return 31;
    const std::uint32_t last = __funnelshift_l(at(word + 1), at(word), bits);
    return static_cast<std::uint8_t>(min(__clz(static_cast<int>(__brev(last))), 31));
  }

  // The window's words to where the string goes. Returns bit 7 of a byte where there may be kEscapeZeros
  // zeros: they hold either two whole bytes, or one and seven bits on either side.
  __device__ __forceinline__ std::uint32_t store(int first, int words) const {
    const int count = min(words - first, kWindowWords);
    std::uint32_t suspect = 0;
#pragma unroll 1
    for (int word = 4 * lane_; word < count; word += 4 * 32) {
      const uint4 four = *reinterpret_cast<const uint4*>(&at(word));
      const std::uint32_t next = word + 4 < kWindowWords ? at(word + 4) : 0;
      __stcg(reinterpret_cast<uint4*>(d_words_ + first + word), four);
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
  std::uint32_t* const d_words_;
  const int lane_;
};

}  // namespace cu264::entropy
