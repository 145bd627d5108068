// Where a batch keeps the items and the strings of its slices in device memory. An item is a step of the
// arithmetic coder (core/cabac_item.h), a string what the coder makes of a slice's items.
//
// A slice has a window of items and room for a string, both of fixed size. An ordinary window suffices for
// all slices of ordinary pictures, one of nine times its size for noise, and one of sixteen times its size
// for any macroblocks that keep to 3200 bits; a slice with more items than its window holds is binarised and
// coded piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/hd.h"

namespace cu264::entropy {

// Real pictures have about 200 items a macroblock at QP 27. Ordinary windows suffice for those of 500 KB at
// 1080p, doubled ones for those of 900 KB, and fourfold ones for those of 1.5 MB. The search makes up to 4320
// items a macroblock of noise, whatever its amplitude; where QPs are lower it takes I_PCM.
enum class WindowSize : std::uint32_t { ordinary, doubled, fourfold, ninefold, sixteenfold };
inline constexpr WindowSize kLargestWindows = WindowSize::sixteenfold;
// A batch of any size has room for those of one picture.
inline constexpr WindowSize kAmpleWindows = WindowSize::ninefold;
inline constexpr std::size_t kWindowSizes = static_cast<std::size_t>(kLargestWindows) + 1;
CU264_HD std::uint32_t items_per_macroblock(WindowSize windows) {
  return windows == WindowSize::ninefold ? 9 * 512 : 512u << static_cast<std::uint32_t>(windows);
}
CU264_HD WindowSize next_larger(WindowSize windows) {
  return static_cast<WindowSize>(static_cast<std::uint32_t>(windows) + 1);
}
CU264_HD WindowSize next_smaller(WindowSize windows) {
  return static_cast<WindowSize>(static_cast<std::uint32_t>(windows) - 1);
}

// The search keeps macroblock_layer within 3200 bits as CAVLC codes it. A quarter more is left for
// macroblocks that the adaptive contexts of CABAC code worse, and as much for the first ones of a slice.
inline constexpr int kStringWordsPerMacroblock = 128, kStringWordsToAdapt = 288;

// Words in front of a string. The coder stores into the last of them a word that is always zero.
inline constexpr int kStringGuardWords = 4;

struct StringLayout {
  int pictures = 0, slices = 0;
  int most_macroblocks = 0;        // of a slice
  std::uint32_t window_items = 0;  // a multiple of 8
  std::uint32_t string_words = 0;  // a multiple of 4, without the guard

  CU264_HD_MEMBER std::size_t slice_count() const { return static_cast<std::size_t>(pictures) * slices; }
  CU264_HD_MEMBER std::size_t window_of(std::size_t slice) const { return slice * window_items; }
  CU264_HD_MEMBER std::size_t string_of(std::size_t slice) const {
    return slice * (string_words + kStringGuardWords) + kStringGuardWords;
  }
  CU264_HD_MEMBER std::size_t all_items() const { return window_of(slice_count()); }
  CU264_HD_MEMBER std::size_t all_words() const { return slice_count() * (string_words + kStringGuardWords); }
};

CU264_HD StringLayout string_layout(int pictures, int mb_width, int mb_height, int slices,
                                    WindowSize windows = WindowSize::ordinary) {
  StringLayout layout;
  layout.pictures = pictures;
  layout.slices = slices;
  layout.most_macroblocks = (mb_height + slices - 1) / slices * mb_width;
  const auto macroblocks = static_cast<std::uint32_t>(layout.most_macroblocks);
  layout.window_items = macroblocks * items_per_macroblock(windows);
  layout.string_words = macroblocks * kStringWordsPerMacroblock + kStringWordsToAdapt;
  return layout;
}

CU264_HD StringLayout string_layout(const core::BatchView& batch, WindowSize windows = WindowSize::ordinary) {
  return string_layout(batch.pictures, batch.mb_width, batch.mb_height, batch.slices, windows);
}

// The stages know this of a slice.
struct alignas(16) StringRecord {
  std::uint32_t items = 0;
  std::uint32_t bins = 0;    // of the arithmetic coder, for cabac_zero_words
  std::uint32_t bits = 0;    // of the string with its last one, rbsp_stop_one_bit
  std::uint32_t broken = 0;  // the string is longer than its room; its bits are not valid
  std::uint32_t mbs[core::kMacroblockKinds] = {};  // numbers of macroblocks by MacroblockKind
};

// Tells whether a slice's window holds all of it.
CU264_HD bool fits_window(const StringLayout& layout, const StringRecord& record) {
  return record.items <= layout.window_items;
}

// The smallest windows that hold a slice, or the largest.
CU264_HD WindowSize suitable_windows(const StringLayout& layout, const StringRecord& record) {
  const auto macroblocks = static_cast<std::uint32_t>(layout.most_macroblocks);
  WindowSize windows = WindowSize::ordinary;
  while (windows != kLargestWindows && record.items > macroblocks * items_per_macroblock(windows))
    windows = next_larger(windows);
  return windows;
}

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
