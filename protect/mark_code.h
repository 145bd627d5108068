// The code by which an encoder spreads the frame of a watermark (WatermarkSpread::coded).
//
// An encoder chooses blocks before it knows which of them will have levels that can carry a bit. If each
// block carried a bit of the frame itself, drawn at random, the last missing bits would take long to come up:
// n bits need about n (ln(n) + 5) blocks. Here the frame of n bits becomes about 4 n coded bits, and it
// follows from almost any n of them, so that 1.2 n to 1.7 n blocks suffice.
//
// The frame is cut into groups of up to 64 bytes. The first coded bits of a group are its own bits. Each of
// the others is the sum modulo 2 of about half of them, which pseudo-random numbers choose. The coded bits of
// the groups are interleaved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/bitstream/nal_unit.h"

namespace cu264::protect {

using bitstream::Bytes;
using bitstream::ByteSpan;

class MarkCode {
 public:
  // `frame_bytes` is 1 to 2^26.
  explicit MarkCode(std::uint32_t frame_bytes);

  std::uint32_t groups() const { return groups_; }
  // The number of bits of a group, and of its coded bits, which is the same for all groups.
  std::uint32_t bits(std::uint32_t group) const { return 8 * (first_byte(group + 1) - first_byte(group)); }
  std::uint32_t coded_bits_of_group() const { return coded_bits_of_group_; }
  std::uint64_t coded_bits() const { return std::uint64_t{groups_} * coded_bits_of_group_; }

  // Returns the coded bits, the most significant bit of each byte first.
  Bytes encode(ByteSpan frame) const;

  // Says whether the bits of a group follow from those coded bits that are set in `seen`, whose index is that
  // of the coded bit.
  bool determines(std::uint32_t group, const std::vector<bool>& seen) const;

  // votes[i] is the number of blocks in which coded bit i was read as 1, less those in which it was read as
  // 0. Returns the frame that the most certain of the coded bits give, or nothing if they are too few.
  std::optional<Bytes> decode(std::span<const std::int32_t> votes) const;

 private:
  static constexpr std::uint32_t kGroupBytes = 64, kCodedBits = 4;
  using Row = std::array<std::uint64_t, kGroupBytes / 8>;  // bit i is bit i % 64 of word i / 64
  class Equations;

  std::uint32_t first_byte(std::uint32_t group) const {
    return static_cast<std::uint32_t>(std::uint64_t{group} * frame_bytes_ / groups_);
  }
  // Returns which of the `bits` bits of a group are summed in the coded bit of this number.
  static Row summands(std::uint32_t number, std::uint32_t bits);

  std::uint32_t frame_bytes_, groups_, coded_bits_of_group_;
};

}  // namespace cu264::protect
