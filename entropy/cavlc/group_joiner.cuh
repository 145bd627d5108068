// Joins the bits of a group's blocks, which are stored separately, into one string of bits. Each lane moves
// one block at a time, with atomics in shared memory.
//
// The words are initialised with ones, and only bits that are zero are put. Most blocks are empty, and the
// codes of most empty blocks are all ones: these blocks need not be put.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/group_shared.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/word_sink.cuh"
#include "entropy/cavlc/zero_watch.cuh"

namespace cu264::entropy {

// All lanes of a warp, each of which has a macroblock, must call each function.
class GroupJoiner {
 public:
  __device__ __forceinline__ GroupJoiner(GroupShared& s, const std::uint32_t* d_spill, int lane)
      : s_(s), d_spill_(d_spill), lane_(lane) {}

  // Writes the record.before bits of the group, in which the lane's macroblock begins at bit `begin`.
  // put_header() puts the `header_length` bits there.
  // `empty_with_zeros` is the mask of the macroblock's empty slots whose codes are not all ones; `listed` is
  // the number of blocks that are not empty.
  template <class PutHeader>
  __device__ __forceinline__ void write(GroupRecord& record, std::uint32_t* d_words, std::uint32_t begin,
                                        int header_length, const PutHeader& put_header,
                                        std::uint32_t empty_with_zeros, int listed) const {
    clear();
    __syncwarp();
    std::uint32_t start = begin + header_length;
#pragma unroll
    for (int i = 0; i < kLengthWords; ++i) {
      s_.joined.starts[lane_ * kLengthWords + i] = static_cast<std::uint16_t>(start);
      start = __dp4a(s_.lengths[lane_][i], 0x01010101u, start);
    }
    __syncwarp();
    put_header();
    if (__any_sync(kAllLanes, put_blocks(listed))) put_ends_of_blocks(listed);
    put_empty_blocks_with_zeros(empty_with_zeros);
    __syncwarp();
    const std::uint32_t bits = record.before;
    const bool zeros = store(d_words, static_cast<int>((bits + 31) / 32));
    record.may_escape = bits < 32 || __any_sync(kAllLanes, zeros);
    record.zeros_first = leading_zeros(s_.joined.words[0]);
    // One word holds (bits & 31) of the last 32 bits, the word before it the others.
    const std::uint32_t* const s_end = s_.joined.words + max(bits >> 5, 1u);
    record.zeros_last = leading_zeros(__brev(__funnelshift_l(s_end[0], s_end[-1], bits)));
  }

  // Clears the bits from `position` on that are set in `zeros`, the highest of them first.
  __device__ __forceinline__ void put(std::uint32_t position, std::uint32_t zeros) const {
    std::uint32_t* const s_word = s_.joined.words + (position >> 5);
    atomicXor(s_word, zeros >> (position & 31));
    atomicXor(s_word + 1, __funnelshift_r(0, zeros, position));
  }

 private:
  __device__ __forceinline__ static std::uint8_t leading_zeros(std::uint32_t word) {
    return static_cast<std::uint8_t>(min(__clz(static_cast<int>(word)), 31));
  }

  __device__ __forceinline__ void clear() const {
    constexpr int kAll = sizeof(s_.joined.words) / sizeof(uint4);
    uint4* const s_all = reinterpret_cast<uint4*>(s_.joined.words);
#pragma unroll
    for (int i = 0; i < kAll; i += 32) {
      if (i + 32 <= kAll || i + lane_ < kAll) s_all[i + lane_] = {~0u, ~0u, ~0u, ~0u};
    }
  }

  // The position of a slot's bits and their number.
  struct BitRange {
    std::uint32_t position;
    int length;
  };
  // `index` is that of the slot's byte in GroupShared::lengths.
  __device__ __forceinline__ BitRange range_of(int index) const {
    const std::uint32_t lengths = s_.lengths[0][index >> 2];
    // Has a one for each of the four bytes that comes before the slot's byte.
    const std::uint32_t before = __funnelshift_r(0x00010101u, 0, 24 - 8 * index);
    return {__dp4a(lengths, before, static_cast<std::uint32_t>(s_.joined.starts[index >> 2])),
            static_cast<int>(__byte_perm(lengths, 0, 0x4440 | (index & 3)))};
  }

  struct BlockBits {
    BitRange range;
    std::uint32_t bits;  // or, if there are more than 32, where they are
  };
  // The bits of block i of the list; if there is no block i, a block of length 0.
  __device__ __forceinline__ BlockBits bits_at(int i, int listed) const {
    const ListedBlock block{s_.list[min(i, listed - 1)]};
    BlockBits result{range_of(block.length_index()), s_.words[block.block()]};
    if (i >= listed) result.range.length = 0;
    return result;
  }

  // Puts the first 64 bits of each listed block and returns whether a block of the lane has more. All lanes
  // go through all rounds: lanes that leave a loop with atomics one by one stay divergent for long. Each
  // round takes two blocks, so that their loads overlap.
  __device__ __forceinline__ bool put_blocks(int listed) const {
    bool more = false;
#pragma unroll 1
    for (int i = lane_; i - lane_ < listed; i += 64) {
      BlockBits blocks[2] = {bits_at(i, listed), bits_at(i + 32, listed)};
#pragma unroll
      for (BlockBits& block : blocks) {
        auto& [position, length] = block.range;
        if (length > 32) {
          const std::uint32_t* const d_spilled = d_spill_ + (block.bits >> 10);
          block.bits = d_spilled[0];
          put(position + 32, ~d_spilled[1] << max(0, 64 - length));
          more |= length > 64;
          length = 32;
        }
      }
#pragma unroll
      for (const BlockBits& block : blocks) {
        put(block.range.position, left_aligned(~block.bits, block.range.length));
      }
    }
    return more;
  }

  __device__ __forceinline__ void put_ends_of_blocks(int listed) const {
#pragma unroll 1
    for (int i = lane_; i < listed; i += 32) {
      const ListedBlock block{s_.list[i]};
      const auto [position, length] = range_of(block.length_index());
      const std::uint32_t* const d_spilled = d_spill_ + (s_.words[block.block()] >> 10);
#pragma unroll 1
      for (int at = 64; at < length; at += 32) {
        put(position + at, ~d_spilled[at / 32] << max(0, at + 32 - length));
      }
    }
  }

  __device__ __forceinline__ void put_empty_blocks_with_zeros(std::uint32_t empty_with_zeros) const {
#pragma unroll 1
    for (; __any_sync(kAllLanes, empty_with_zeros != 0); empty_with_zeros &= empty_with_zeros - 1) {
      if (empty_with_zeros != 0) {
        const int slot = core::highest_bit(empty_with_zeros & (0u - empty_with_zeros));
        const bool dc = slot == core::kSlotChromaDc || slot == core::kSlotChromaDc + 1;
        put(range_of(4 * kLengthWords * lane_ + slot).position, dc ? 0x80000000u : 0xf0000000u);
      }
    }
  }

  // Stores the joined words to d_words. Returns whether the lane finds kEscapeZeros zero bits in a
  // row.
  __device__ __forceinline__ bool store(std::uint32_t* d_words, int words) const {
    std::uint32_t suspect = 0;
#pragma unroll 1
    for (int word = 4 * lane_; word < words; word += 4 * 32) {
      const uint4 four = *reinterpret_cast<const uint4*>(s_.joined.words + word);
      const std::uint32_t next = s_.joined.words[word + 4];
      __stcg(reinterpret_cast<uint4*>(d_words + word), four);
      suspect |= zero_bytes(four.x, four.y) | zero_bytes(four.y, four.z) | zero_bytes(four.z, four.w) |
                 zero_bytes(four.w, next);
    }
    return (suspect & kZeroByteBits) != 0 && look_for_zeros(words);
  }
  // Looks more closely after a byte of zeros was found in the lane's words. Up to seven zeros may come before
  // that byte, in the preceding word.
  __device__ __noinline__ bool look_for_zeros(int words) const {
    for (int word = 4 * lane_; word < words; word += 4 * 32) {
      for (int i = max(word - 1, 0); i < word + 4; ++i) {
        if (escape_zeros_begin(s_.joined.words[i], s_.joined.words[i + 1])) return true;
      }
    }
    return false;
  }
  GroupShared& s_;
  const std::uint32_t* const d_spill_;
  const int lane_;
};

}  // namespace cu264::entropy
