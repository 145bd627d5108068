// Lays out the memory of CABAC's stages and launches them in order.
#include "entropy/cabac/cabac_batch.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "entropy/cabac/binarise.h"
#include "entropy/cabac/chunked_strings.h"
#include "entropy/cabac/code_strings.h"
#include "entropy/cabac/string_layout.h"
#include "entropy/pack/pack_strings.h"

namespace cu264::entropy {
namespace {

// Items, and the memory of chunks where larger windows leave no other room for it.
struct Windows {
  std::uint16_t* items;
  void* chunks;
};

Windows carve_windows(Arena& arena, int pictures, int mb_width, int mb_height, int slices, WindowSize size) {
  const StringLayout layout = string_layout(pictures, mb_width, mb_height, slices, size);
  Windows windows;
  windows.items = arena.take<std::uint16_t>(layout.all_items());
  windows.chunks = arena.take(chunk_scratch_bytes(pictures, mb_width, mb_height, slices, size));
  return windows;
}

std::size_t windows_with_chunks(int pictures, int mb_width, int mb_height, int slices, WindowSize size) {
  Arena arena(nullptr);
  carve_windows(arena, pictures, mb_width, mb_height, slices, size);
  return arena.bytes();
}

// Returns the size of memory that holds ordinary windows of all pictures, or ample ones of one picture.
std::size_t window_bytes(int pictures, int mb_width, int mb_height, int slices) {
  const StringLayout layout = string_layout(pictures, mb_width, mb_height, slices);
  return std::max(layout.all_items() * sizeof(std::uint16_t),
                  windows_with_chunks(1, mb_width, mb_height, slices, kAmpleWindows));
}

// Tells whether windows of this size have room for so many of a batch's pictures at once.
bool has_room(const core::BatchView& batch, int pictures, WindowSize size) {
  return windows_with_chunks(pictures, batch.mb_width, batch.mb_height, batch.slices, size) <=
         window_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
}

std::size_t macroblocks_of(const core::BatchView& batch) {
  return static_cast<std::size_t>(batch.pictures) * static_cast<std::size_t>(batch.macroblocks_per_picture());
}

// Tells whether all pictures at once have room for windows of the next larger size, with chunks as large as
// before: then these windows take no longer.
bool can_grow(const core::BatchView& batch, WindowSize size) {
  if (size == kLargestWindows || !has_room(batch, batch.pictures, next_larger(size))) return false;
  const std::size_t mbs = macroblocks_of(batch);
  return chunk_shape(mbs, next_larger(size)).items_log2 == chunk_shape(mbs, size).items_log2;
}

// Returns windows larger than those asked for where they take no longer, and smaller ones where one picture
// has no room for them.
WindowSize possible_windows(const core::BatchView& batch, WindowSize size) {
  while (can_grow(batch, size)) size = next_larger(size);
  while (size > kAmpleWindows && !has_room(batch, 1, size)) size = next_smaller(size);
  return size;
}

struct Scratch {
  BinariseScratch binarise;
  void* windows;
  std::uint32_t* strings;
  StringRecord* records;
  void* pack;
};

Scratch carve(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  const StringLayout layout = string_layout(pictures, mb_width, mb_height, slices);
  Scratch scratch;
  scratch.binarise = carve_binarise(arena, pictures, mb_width, mb_height, slices);
  scratch.windows = arena.take(window_bytes(pictures, mb_width, mb_height, slices));
  scratch.strings = arena.take<std::uint32_t>(layout.all_words());
  scratch.records = arena.take<StringRecord>(layout.slice_count());
  scratch.pack = arena.take(string_pack_scratch_bytes(pictures, mb_width, mb_height, slices));
  return scratch;
}

// What the stages read of `count` of a batch's pictures from `first` on.
core::BatchView pictures_of(core::BatchView batch, int first, int count) {
  const auto mbs = static_cast<std::ptrdiff_t>(first) * batch.macroblocks_per_picture();
  batch.pictures = count;
  batch.sources += first;
  batch.params += first;
  batch.macroblocks += mbs;
  batch.levels += mbs * core::kLevelsPerMacroblock;
  batch.total_coeff += mbs * core::kTotalCoeffStride;
  return batch;
}

// Binarises and codes a batch, or pictures of one, whose records and strings begin at those of `scratch`.
void launch_strings(const core::BatchView& batch, const Scratch& scratch, const Windows& windows,
                    WindowSize size, ArithmeticWay way, cudaStream_t stream) {
  launch_binarise(batch, scratch.binarise, scratch.records, windows.items, stream, size);
  // This binarises the slices that their windows do not hold, so the chunks come behind it.
  launch_code_long_strings(batch, scratch.binarise, windows.items, scratch.records, scratch.strings, stream,
                           size);
  if (way == ArithmeticWay::in_chunks) {
    launch_code_strings_in_chunks(batch, windows.items, scratch.records, scratch.strings, windows.chunks,
                                  chunk_shape(macroblocks_of(batch), size), stream, size);
  } else {
    launch_code_strings(batch, windows.items, scratch.records, scratch.strings, stream, 0, size);
  }
}

// Codes as many pictures at a time as have room for such windows. Their chunks lie behind the windows,
// because the levels of later pictures are still needed.
void launch_in_rounds(const core::BatchView& batch, const Scratch& scratch, WindowSize size,
                      ArithmeticWay way, cudaStream_t stream) {
  int most = batch.pictures;
  while (most > 1 && !has_room(batch, most, size)) --most;
  const int rounds = (batch.pictures + most - 1) / most, at_once = (batch.pictures + rounds - 1) / rounds;
  const StringLayout layout = string_layout(1, batch.mb_width, batch.mb_height, batch.slices);
  for (int first = 0; first < batch.pictures; first += at_once) {
    const int count = std::min(at_once, batch.pictures - first);
    Arena arena(scratch.windows);
    const Windows windows = carve_windows(arena, count, batch.mb_width, batch.mb_height, batch.slices, size);
    Scratch own = scratch;
    own.records += static_cast<std::size_t>(first) * layout.slice_count();
    own.strings += static_cast<std::size_t>(first) * layout.all_words();
    launch_strings(pictures_of(batch, first, count), own, windows, size, way, stream);
  }
}

}  // namespace

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices) {
  Arena arena(nullptr);
  carve(arena, pictures, mb_width, mb_height, slices);
  return arena.bytes();
}

std::size_t cabac_chunk_bytes(int pictures, int mb_width, int mb_height, int slices) {
  return chunk_scratch_bytes(pictures, mb_width, mb_height, slices);
}

std::size_t cabac_stream_bytes(int pictures, int mb_width, int mb_height, int slices) {
  return static_cast<std::size_t>(pictures) * max_packed_string_bytes(mb_width, mb_height, slices);
}

void launch_cabac(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream, WindowSize size,
                  ArithmeticWay way) {
  Arena arena(memory.scratch);
  const Scratch scratch = carve(arena, batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  size = possible_windows(batch, size);
  if (size == WindowSize::ordinary) {
    const Windows windows{static_cast<std::uint16_t*>(scratch.windows), memory.chunks};
    launch_strings(batch, scratch, windows, size, way, stream);
  } else {
    launch_in_rounds(batch, scratch, size, way, stream);
  }
  const std::size_t capacity =
      cabac_stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  launch_pack_strings(batch, d_headers, scratch.records, scratch.strings,
                      {scratch.pack, memory.stream, capacity}, d_pictures, stream);
}

}  // namespace cu264::entropy
