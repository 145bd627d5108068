// The output of the stage `code` in device memory: the bits of groups of macroblocks. Each group's bits are
// stored separately, not yet at their position in the slice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "core/device_batch.h"
#include "core/hd.h"

namespace cu264::entropy {

// The encoder keeps macroblock_layer within 3200 bits (H.264 A.3.1).
inline constexpr int kMacroblockWords = 100;
inline constexpr int kPcmSampleBits = 8 * core::MacroblockLayout::kSamples;

// Consecutive macroblocks of a slice; the slice's last group may have fewer. A warp codes a group.
inline constexpr int kGroup = 32;

// Describes a group's bits, which are stored most significant first in each word. `before` bits come first.
// If `aligned`, another `after` bits begin with the next whole word; in the slice they begin at a byte
// boundary. They are the samples of the group's first I_PCM macroblock and whatever follows
// (core/bit_run.h).
struct alignas(16) GroupRecord {
  std::uint32_t before = 0;
  std::uint32_t after : 31 = 0;
  std::uint32_t aligned : 1 = 0;
  std::uint16_t header_bits = 0;                  // bits of macroblock headers
  std::uint8_t mbs[core::kMacroblockKinds] = {};  // numbers of macroblocks by MacroblockKind
  // Numbers of zero bits at the beginning and at the end; 31 stands for 31 or more.
  std::uint8_t zeros_last = 0;
  std::uint8_t zeros_first : 5 = 0;
  std::uint8_t broken : 1 = 0;  // a macroblock had too many bits; no other field is valid
  // Somewhere kEscapeZeros zero bits may follow one another, or this was not examined.
  std::uint8_t may_escape : 1 = 1;
};
static_assert(sizeof(GroupRecord) == 16);

// An emulation prevention byte follows two bytes of zero and precedes a byte whose upper six bits are zero
// (H.264 7.4.1.1).
inline constexpr int kEscapeZeros = 22;

// Returns whether kEscapeZeros zero bits begin in `word`, which is followed by `next`.
CU264_HD bool escape_zeros_begin(std::uint32_t word, std::uint32_t next) {
  // After the shifts, bit i says that a run of zeros begins there; each shift doubles the length of that
  // run.
  std::uint64_t zeros = ~(static_cast<std::uint64_t>(word) << 32 | next);
  for (int count = 1; count < 16; count *= 2) zeros &= zeros << count;
  zeros &= zeros << (kEscapeZeros - 16);
  return zeros >> 32 != 0;
}

// The groups of a batch. All slices have the same number of groups; where slices differ in height, some
// groups are empty.
struct GroupLayout {
  int pictures = 0, slices = 0, groups_a_slice = 0;

  CU264_HD_MEMBER std::size_t groups() const {
    return static_cast<std::size_t>(pictures) * slices * groups_a_slice;
  }
};

CU264_HD GroupLayout group_layout(int pictures, int mb_width, int mb_height, int slices) {
  const int rows = (mb_height + slices - 1) / slices;
  return {pictures, slices, (rows * mb_width + kGroup - 1) / kGroup};
}

CU264_HD GroupLayout group_layout(const core::BatchView& batch) {
  return group_layout(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
}

// A group's macroblocks are [first, end) of its picture.
struct Group {
  std::size_t index;
  int picture, slice, first, end;
  int slice_first, slice_end;
};

CU264_HD Group group_at(const core::BatchView& batch, const GroupLayout& layout, std::uint32_t index) {
  const std::uint32_t slice_index = index / layout.groups_a_slice;
  const auto in_slice = static_cast<int>(index - slice_index * layout.groups_a_slice);
  Group g;
  g.index = index;
  g.picture = static_cast<int>(slice_index);
  g.slice = 0;
  g.slice_first = 0;
  g.slice_end = batch.macroblocks_per_picture();
  if (layout.slices > 1) {  // avoids divisions
    g.picture = static_cast<int>(slice_index / layout.slices);
    g.slice = static_cast<int>(slice_index % layout.slices);
    g.slice_first = core::slice_first_row(g.slice, batch.slices, batch.mb_height) * batch.mb_width;
    g.slice_end = core::slice_first_row(g.slice + 1, batch.slices, batch.mb_height) * batch.mb_width;
  }
  g.first = g.slice_first + in_slice * kGroup;
  g.end = g.first + kGroup < g.slice_end ? g.first + kGroup : g.slice_end;
  return g;  // first >= end: the group is empty
}

struct GroupBits {
  std::uint32_t* words = nullptr;  // group_words() of them
  GroupRecord* records = nullptr;  // [picture][slice][group]

  CU264_HD_MEMBER std::uint32_t* words_of(const core::BatchView& batch, const Group& g) const {
    const std::size_t mb = static_cast<std::size_t>(g.picture) * batch.macroblocks_per_picture() + g.first;
    return words + mb * kMacroblockWords + 4 * g.index;
  }
};

// A group may have up to two words that are only partly filled.
CU264_HD std::size_t group_words(const GroupLayout& layout, int mb_width, int mb_height) {
  return static_cast<std::size_t>(layout.pictures) * mb_width * mb_height * kMacroblockWords +
         4 * layout.groups();
}

}  // namespace cu264::entropy
