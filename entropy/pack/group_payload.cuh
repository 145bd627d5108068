// The bytes of a slice's RBSP that a group brings to an end, read straight from where `code` left the bits.
#pragma once

#include <cstdint>

#include "core/bit_run.h"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {

// The 32 bits at `offset` of a string of `length` bits, zeros around it. Its last word is filled with zeros.
__device__ inline std::uint32_t bits_at(const std::uint32_t* words, int length, int offset) {
  if (offset <= -32 || offset >= length) return 0;
  if (offset < 0) return words[0] >> -offset;
  const int word = offset >> 5;
  const std::uint32_t next = 32 * (word + 1) < length ? words[word + 1] : 0;
  return __funnelshift_l(next, words[word], offset & 31);
}

// A group's bits where they are in the slice.
struct PlacedGroup {
  const std::uint32_t* words = nullptr;
  std::uint64_t position = 0;
  int before = 0, after = 0;
  int second = 0;  // bits from `position` to those behind the alignment

  PlacedGroup() = default;
  __device__ PlacedGroup(const PackJob& job, const Group& group)
      : words(job.scratch.coded.words_of(job.batch, group)), position(job.scratch.positions[group.index]) {
    const GroupRecord record = job.scratch.coded.records[group.index];
    before = static_cast<int>(record.before);
    after = static_cast<int>(record.after);
    second = static_cast<int>(core::next_byte_boundary(position + record.before) - position);
    if (record.aligned == 0) second = before;
  }
  __device__ std::uint64_t end() const { return position + static_cast<std::uint64_t>(second + after); }
  __device__ std::uint32_t at(int offset) const {
    const std::uint32_t bits = bits_at(words, before, offset);
    return after == 0 ? bits : bits | bits_at(words + (before + 31) / 32, after, offset - second);
  }
};

class GroupPayload {
 public:
  __device__ GroupPayload(const PackJob& job, const Group& group, const SliceRecord& slice)
      : own_(job, group), header_(job.header(group.picture, group.slice)), slice_bits_(slice.bits) {
    const bool is_first = group.first == group.slice_first;
    if (!is_first) {
      Group before = group;
      --before.index;
      before.first -= kGroup;
      before_ = PlacedGroup(job, before);
    }
    first_ = is_first ? 0 : own_.position / 8;
    const bool is_last = own_.end() == slice.bits;
    bytes_ = static_cast<int>((is_last ? slice.rbsp_bytes() : own_.end() / 8) - first_);
  }

  // In the RBSP.
  __device__ std::uint64_t first_byte() const { return first_; }
  __device__ int bytes() const { return bytes_; }

  // The four bytes from the i-th on; in front of the RBSP zeros. Right as far back as the group before the
  // own one goes, and it is not all zeros.
  __device__ std::uint32_t word_at(int i) const {
    const std::int64_t from = 8 * (static_cast<std::int64_t>(first_) + i);
    const auto offset = static_cast<int>(from - static_cast<std::int64_t>(own_.position));
    std::uint32_t word = own_.at(offset);
    if (offset < 0) {
      if (before_.words == nullptr) {
        word |= header_at(static_cast<int>(from));
      } else {
        word |= before_.at(static_cast<int>(from - static_cast<std::int64_t>(before_.position)));
      }
    }
    const std::int64_t to_end = static_cast<std::int64_t>(slice_bits_) - from;
    if (to_end >= 0 && to_end < 32) word |= 0x80000000u >> to_end;  // rbsp_stop_one_bit
    return word;
  }

 private:
  // Bits of the slice header; -31 <= from.
  __device__ std::uint32_t header_at(int from) const {
    if (from <= -32 || from >= header_.length) return 0;
    const std::uint64_t left_aligned = header_.bits << (64 - header_.length);
    return static_cast<std::uint32_t>(from < 0 ? left_aligned >> (32 - from) : left_aligned << from >> 32);
  }

  const PlacedGroup own_;
  PlacedGroup before_;
  const SliceHeaderBits header_;
  const std::uint64_t slice_bits_;
  std::uint64_t first_;
  int bytes_;
};

}  // namespace cu264::entropy
