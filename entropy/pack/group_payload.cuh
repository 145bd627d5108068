// The bytes of a slice's RBSP that a group completes, read straight from where `code` left the bits.
#pragma once

#include <cstdint>

#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {

// The 32 bits at `offset` of a string of `length` bits, zeros around it. Its last word is filled with zeros.
// Without branches, so that the loads of several words are in flight together.
__device__ __forceinline__ std::uint32_t bits_at(const std::uint32_t* words, int length, int offset) {
  const int word = offset >> 5;
  const auto count = static_cast<std::uint32_t>(length + 31) / 32;
  const std::uint32_t first = static_cast<std::uint32_t>(word) < count ? words[word] : 0;
  const std::uint32_t second = static_cast<std::uint32_t>(word + 1) < count ? words[word + 1] : 0;
  return __funnelshift_l(second, first, offset & 31);
}

__device__ __forceinline__ std::uint32_t bits_of(const PackJob& job, const PlacedGroup& group, int offset) {
  const std::uint32_t* const words = job.scratch.coded.words + 4 * std::size_t{group.words};
  const std::uint32_t bits = bits_at(words, group.before, offset);
  if (group.after == 0) return bits;
  return bits | bits_at(words + (group.before + 31) / 32, group.after, offset - group.second);
}

class GroupPayload {
 public:
  __device__ __forceinline__ GroupPayload(const PackJob& job, std::size_t group, const SliceRecord& slice)
      : job_(job),
        slice_(slice),
        d_own_(job.scratch.groups + group),
        own_(*d_own_),
        first_(8 * own_.first_byte - static_cast<int>(own_.position & 7)) {
    const std::uint64_t to_end = slice.bits - own_.position;
    stop_ = to_end < kFar ? static_cast<int>(to_end) : kFar;
  }

  __device__ __forceinline__ int bytes() const { return own_.bytes; }
  // In the RBSP.
  __device__ __forceinline__ std::uint64_t first_byte() const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(own_.position / 8) + own_.first_byte);
  }

  // The four bytes from the i-th on; in front of the RBSP zeros. Right as far back as the group before this
  // one goes, and it is not all zeros.
  __device__ __forceinline__ std::uint32_t word_at(int i) const {
    const int offset = first_ + 8 * i;
    std::uint32_t word = bits_of(job_, own_, offset);
    if (offset < 0) word |= bits_before(offset);
    if (offset > stop_ - 32 && offset <= stop_) word |= 0x80000000u >> (stop_ - offset);  // rbsp_stop_one_bit
    return word;
  }

 private:
  static constexpr int kFar = 1 << 30;

  __device__ __forceinline__ std::uint32_t bits_before(int offset) const {
    if (!is_first()) {
      const PlacedGroup before = d_own_[-1];
      return bits_of(job_, before, offset + static_cast<int>(own_.position - before.position));
    }
    const int from = offset + static_cast<int>(own_.position), length = slice_.header.length;
    if (from <= -32 || from >= length) return 0;
    const std::uint64_t left_aligned = slice_.header.bits << (64 - length);
    return static_cast<std::uint32_t>(from < 0 ? left_aligned >> (32 - from) : left_aligned << from >> 32);
  }
  __device__ bool is_first() const {
    return static_cast<std::size_t>(d_own_ - job_.scratch.groups) % job_.layout.groups_a_slice == 0;
  }

  const PackJob& job_;
  const SliceRecord& slice_;
  const PlacedGroup* const d_own_;
  const PlacedGroup own_;
  const int first_;  // bits from the group's first to those of its first byte
  int stop_;         // bits from the group's first to the slice's end
};

}  // namespace cu264::entropy
