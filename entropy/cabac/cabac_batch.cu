// Lays out the memory of CABAC's stages and launches them in order.
#include "entropy/cabac/cabac_batch.h"

#include "common/cuda/arena.h"
#include "entropy/cabac/binarise.h"
#include "entropy/cabac/chunked_strings.h"
#include "entropy/cabac/code_strings.h"
#include "entropy/cabac/string_layout.h"
#include "entropy/pack/pack_strings.h"

namespace cu264::entropy {
namespace {

struct Scratch {
  BinariseScratch binarise;
  std::uint16_t* items;
  std::uint32_t* strings;
  StringRecord* records;
  void* pack;
};

Scratch carve(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  const StringLayout layout = string_layout(pictures, mb_width, mb_height, slices);
  Scratch scratch;
  scratch.binarise = carve_binarise(arena, pictures, mb_width, mb_height, slices);
  scratch.items = arena.take<std::uint16_t>(layout.all_items());
  scratch.strings = arena.take<std::uint32_t>(layout.all_words());
  scratch.records = arena.take<StringRecord>(layout.slice_count());
  scratch.pack = arena.take(string_pack_scratch_bytes(pictures, mb_width, mb_height, slices));
  return scratch;
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
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                  ArithmeticWay way) {
  Arena arena(memory.scratch);
  const Scratch scratch = carve(arena, batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  launch_binarise(batch, scratch.binarise, scratch.records, scratch.items, stream);
  // This binarises the slices that their windows do not hold, so the chunks come behind it.
  launch_code_other_strings(batch, scratch.binarise, scratch.items, scratch.records, scratch.strings, stream);
  if (way == ArithmeticWay::in_chunks) {
    const std::size_t macroblocks =
        static_cast<std::size_t>(batch.pictures) * static_cast<std::size_t>(batch.macroblocks_per_picture());
    launch_code_strings_in_chunks(batch, scratch.items, scratch.records, scratch.strings, memory.chunks,
                                  chunk_shape(macroblocks), stream);
  } else {
    launch_code_strings(batch, scratch.items, scratch.records, scratch.strings, stream);
  }
  const std::size_t capacity =
      cabac_stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  launch_pack_strings(batch, d_headers, scratch.records, scratch.strings,
                      {scratch.pack, memory.stream, capacity}, d_pictures, stream);
}

}  // namespace cu264::entropy
