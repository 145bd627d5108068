// The bytes of a slice's RBSP that a group completes, read directly from where `code` left the bits.
#pragma once

#include <cstdint>

#include "core/bit_run.h"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {

// Returns the 32 bits at `offset` of `length` bits that are surrounded by zeros. The bits beyond the end
// in the last word are ignored. There are no branches, so that the loads of several words overlap.
__device__ __forceinline__ std::uint32_t bits_at(const std::uint32_t* words, int length, int offset) {
  const int word = offset >> 5;
  const auto count = static_cast<std::uint32_t>(length + 31) >> 5;
  const std::uint32_t first = static_cast<std::uint32_t>(word) < count ? words[word] : 0;
  const std::uint32_t second = static_cast<std::uint32_t>(word + 1) < count ? words[word + 1] : 0;
  const int too_many = max(offset + 32 - length, 0);
  return __funnelshift_l(second, first, offset & 31) & __funnelshift_lc(0, ~0u, too_many);
}

__device__ __forceinline__ const std::uint32_t* words_of(const PackJob& job, const GroupOffset& group) {
  return job.scratch.coded.words + 4 * std::size_t{group.words};
}

__device__ __forceinline__ std::uint32_t bits_of(const PackJob& job, const GroupOffset& group, int offset) {
  const std::uint32_t bits = bits_at(words_of(job, group), group.before, offset);
  if (group.after == 0) return bits;
  const int lead = static_cast<int>(group.position & 7);
  const int second = ((lead + group.before + 7) & ~7) - lead;
  return bits | bits_at(words_of(job, group) + ((group.before + 31) >> 5), group.after, offset - second);
}

// kInter: the batch has P pictures, where a group may have few bits or none, so that bits of several groups
// lie in one byte.
template <bool kInter>
class GroupPayload {
 public:
  __device__ __forceinline__ GroupPayload(const PackJob& job, std::uint32_t index)
      : job_(job),
        d_own_(job.scratch.groups + index),
        own_(*d_own_),
        slice_(job.scratch.slices[own_.slice]) {}

  __device__ __forceinline__ const GroupOffset& group() const { return own_; }
  __device__ __forceinline__ const SliceRecord& slice() const { return slice_; }
  __device__ __forceinline__ bool is_first() const { return own_.index == 0; }
  __device__ __forceinline__ int bytes() const { return own_.bytes; }
  // The index in the RBSP of the group's first byte.
  __device__ __forceinline__ std::uint64_t first_byte() const { return is_first() ? 0 : own_.position / 8; }
  // The number of bits in front of the group's own bits in its first byte; for the first group of a slice,
  // the bits of the slice header.
  __device__ __forceinline__ int lead() const {
    return static_cast<int>(is_first() ? own_.position : own_.position & 7);
  }

  // Returns the four bytes from the i-th on; bytes before the RBSP are zero. Bytes before the group are
  // correct as far back as the preceding group reaches, which is not all zeros; with kInter all are.
  __device__ __forceinline__ std::uint32_t word_at(int i) const {
    const int offset = 8 * i - lead();
    std::uint32_t word = bits_of(job_, own_, offset);
    if (offset < 0) word |= bits_before(offset);
    const std::uint64_t to_end = slice_.bits - own_.position - static_cast<std::int64_t>(offset);
    if (to_end < 32) word |= 0x80000000u >> to_end;  // rbsp_stop_one_bit
    return word;
  }

 private:
  __device__ __forceinline__ std::uint32_t bits_before(int offset) const {
    if constexpr (kInter) return bits_of_all_before(offset);
    if (!is_first()) {
      const GroupOffset before = d_own_[-1];
      return bits_of(job_, before, offset + static_cast<int>(own_.position - before.position));
    }
    return bits_of_header(offset);
  }

  __device__ __noinline__ std::uint32_t bits_of_all_before(int offset) const {
    const std::int64_t wanted =
        static_cast<std::int64_t>(own_.position) + offset;  // the first bit's position
    std::uint32_t word = 0;
    for (std::uint32_t end = own_.index; end > 0;) {
      const GroupOffset before = d_own_[static_cast<int>(end - 1 - own_.index)];
      if (before.before == 0 && before.after == 0) {
        end -= before.words;
        continue;
      }
      word |= bits_of(job_, before, static_cast<int>(wanted - static_cast<std::int64_t>(before.position)));
      if (static_cast<std::int64_t>(before.position) <= wanted) return word;
      --end;
    }
    return word | bits_of_header(offset);
  }

  __device__ __forceinline__ std::uint32_t bits_of_header(int offset) const {
    // Where the header has more than 64 bits, the leading ones are zeros.
    const int zeros = max(slice_.header.length - 64, 0), length = slice_.header.length - zeros;
    const int from = offset + static_cast<int>(own_.position) - zeros;
    if (from <= -32 || from >= length) return 0;
    const std::uint64_t left_aligned = slice_.header.bits << (64 - length);
    return static_cast<std::uint32_t>(from < 0 ? left_aligned >> (32 - from) : left_aligned << from >> 32);
  }

  const PackJob& job_;
  const GroupOffset* const d_own_;
  const GroupOffset own_;
  const SliceRecord& slice_;
};

}  // namespace cu264::entropy
