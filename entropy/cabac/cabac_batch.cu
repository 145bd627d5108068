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

// A batch's own memory. The coded stream overwrites the items, which are no longer needed by then.
struct Work {
  std::uint8_t* stream;
  std::uint16_t* items;
  std::uint32_t* strings;
  StringRecord* records;
  void* pack_scratch;
};

std::size_t stream_bytes(int pictures, int mb_width, int mb_height, int slices) {
  return static_cast<std::size_t>(pictures) * max_packed_string_bytes(mb_width, mb_height, slices);
}

Work carve(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  const StringLayout layout = string_layout(pictures, mb_width, mb_height, slices);
  Work work;
  work.stream = arena.take(std::max(layout.all_items() * sizeof(std::uint16_t),
                                    stream_bytes(pictures, mb_width, mb_height, slices)));
  work.items = reinterpret_cast<std::uint16_t*>(work.stream);
  work.strings = arena.take<std::uint32_t>(layout.all_words());
  work.records = arena.take<StringRecord>(layout.slice_count());
  work.pack_scratch = arena.take(string_pack_scratch_bytes(pictures, mb_width, mb_height, slices));
  return work;
}

Work carve(const core::BatchView& batch, void* memory) {
  Arena arena(memory);
  return carve(arena, batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
}

struct Scratch {
  BinariseScratch binarise;
  void* chunks;
};

Scratch carve_scratch(Arena& arena, int pictures, int mb_width, int mb_height, int slices) {
  Scratch scratch;
  scratch.binarise = carve_binarise(arena, pictures, mb_width, mb_height, slices);
  scratch.chunks = arena.take(chunk_scratch_bytes(pictures, mb_width, mb_height, slices));
  return scratch;
}

void pack(const core::BatchView& batch, const core::SliceHeaderBits* d_headers, const Work& work,
          PackedPicture* d_pictures, StringsThere there, cudaStream_t stream) {
  const StringPackMemory memory{work.pack_scratch, work.stream,
                                stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices)};
  launch_pack_strings(batch, d_headers, work.records, work.strings, memory, d_pictures, stream, there);
}

}  // namespace

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices) {
  Arena arena(nullptr);
  carve_scratch(arena, pictures, mb_width, mb_height, slices);
  return arena.bytes();
}

std::size_t cabac_work_bytes(int pictures, int mb_width, int mb_height, int slices) {
  Arena arena(nullptr);
  carve(arena, pictures, mb_width, mb_height, slices);
  return arena.bytes();
}

CabacStream cabac_stream(int pictures, int mb_width, int mb_height, int slices, void* work) {
  Arena arena(work);
  return {carve(arena, pictures, mb_width, mb_height, slices).stream,
          stream_bytes(pictures, mb_width, mb_height, slices)};
}

void launch_cabac_items(const core::BatchView& batch, const CabacMemory& memory, cudaStream_t stream,
                        ArithmeticWay way) {
  Arena arena(memory.scratch);
  const Scratch scratch = carve_scratch(arena, batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  const Work work = carve(batch, memory.work);
  launch_binarise(batch, scratch.binarise, work.records, work.items, stream);
  if (way != ArithmeticWay::by_slice) {
    const std::size_t macroblocks =
        static_cast<std::size_t>(batch.pictures) * static_cast<std::size_t>(batch.macroblocks_per_picture());
    launch_code_strings_in_chunks(batch, work.items, work.records, work.strings, scratch.chunks,
                                  chunk_shape(macroblocks), stream);
  }
  launch_code_long_strings(batch, scratch.binarise, work.items, work.records, work.strings, stream);
}

void launch_cabac_pack(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                       const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream) {
  pack(batch, d_headers, carve(batch, memory.work), d_pictures, StringsThere::not_coded_serially, stream);
}

void launch_cabac_strings(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                          const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                          ArithmeticWay way) {
  const Work work = carve(batch, memory.work);
  const StringSet set = way == ArithmeticWay::by_slice ? StringSet::all : StringSet::not_in_chunks;
  launch_code_strings(batch, work.items, work.records, work.strings, set, stream);
  pack(batch, d_headers, work, d_pictures, StringsThere::all, stream);
}

}  // namespace cu264::entropy
