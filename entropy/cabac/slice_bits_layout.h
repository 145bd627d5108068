// Where a batch keeps the coded bits of its slices in device memory: what the arithmetic coder makes
// of a slice's items (item_pool.h). All slices have the same room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/hd.h"

namespace cu264::entropy {

// The search keeps macroblock_layer within 3200 bits as CAVLC codes it. A quarter more is left for
// macroblocks that the adaptive contexts of CABAC code worse, and as much for the first ones of a slice.
inline constexpr int kSliceWordsPerMacroblock = 128, kSliceWordsToAdapt = 288;

// Words before a slice. The coder stores a word that is always zero in the last of them.
inline constexpr int kSliceGuardWords = 4;

struct SliceBitsLayout {
  int pictures = 0, slices = 0;
  int most_macroblocks = 0;       // of a slice
  std::uint32_t slice_words = 0;  // a multiple of 4, without the guard

  CU264_HD_MEMBER std::size_t slice_count() const { return static_cast<std::size_t>(pictures) * slices; }
  CU264_HD_MEMBER std::size_t first_word_of(std::size_t slice) const {
    return slice * (slice_words + kSliceGuardWords) + kSliceGuardWords;
  }
  // A slice that continues in another round may reach into the guard after it.
  CU264_HD_MEMBER std::size_t all_words() const {
    return slice_count() * (slice_words + kSliceGuardWords) + kSliceGuardWords;
  }
};

CU264_HD SliceBitsLayout slice_bits_layout(int pictures, int mb_width, int mb_height, int slices) {
  SliceBitsLayout layout;
  layout.pictures = pictures;
  layout.slices = slices;
  layout.most_macroblocks = (mb_height + slices - 1) / slices * mb_width;
  layout.slice_words =
      static_cast<std::uint32_t>(layout.most_macroblocks) * kSliceWordsPerMacroblock + kSliceWordsToAdapt;
  return layout;
}

CU264_HD SliceBitsLayout slice_bits_layout(const core::BatchView& batch) {
  return slice_bits_layout(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
}

// What the stages know about a slice.
struct alignas(16) CabacSliceRecord {
  std::uint32_t items = 0;
  std::uint32_t bins = 0;    // of the arithmetic coder, for cabac_zero_words
  std::uint32_t bits = 0;    // so far; in the end with the final one, rbsp_stop_one_bit
  std::uint32_t broken = 0;  // the slice needs more than its room; its bits are not valid
  std::uint32_t mbs[core::kMacroblockKinds] = {};  // numbers of macroblocks by MacroblockKind
  std::uint32_t first_segment = 0;                 // of the batch's (item_pool.h)
  // What a round leaves to the next where the slice continues: the range after its last chunk and, by the
  // parity of the round that reads them, the bits that its pieces have beyond their end (chunk_job.h).
  std::uint32_t last_range = 0;
  std::uint32_t tails[2] = {};
};

// The macroblocks of a slice are [first, end) of its picture.
struct SliceSpan {
  int picture, slice, first, end;
};

CU264_HD SliceSpan slice_span(const core::BatchView& batch, std::uint32_t slice_index) {
  SliceSpan span;
  span.picture = static_cast<int>(slice_index) / batch.slices;
  span.slice = static_cast<int>(slice_index) % batch.slices;
  span.first = core::slice_first_row(span.slice, batch.slices, batch.mb_height) * batch.mb_width;
  span.end = core::slice_first_row(span.slice + 1, batch.slices, batch.mb_height) * batch.mb_width;
  return span;
}

}  // namespace cu264::entropy
