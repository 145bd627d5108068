// Lays out the memory of CABAC's stages and launches them in order.
#include "entropy/cabac/cabac_batch.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "entropy/cabac/binarise.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/string_layout.h"
#include "entropy/pack/pack_strings.h"

namespace cu264::entropy {
namespace {

struct Scratch {
  BinariseScratch binarise;
  ItemPool pool;
  std::uint32_t* strings;
  StringRecord* records;
  void* pack;
  ChunkMemory chunks;
};

// What codes the chunks lies in the memory of the stream, which the packer writes behind them, if there is
// room.
Scratch carve(Arena& arena, int pictures, int mb_width, int mb_height, int slices, const PoolLayout& layout,
              std::uint8_t* d_stream) {
  const StringLayout strings = string_layout(pictures, mb_width, mb_height, slices);
  const std::size_t macroblocks = static_cast<std::size_t>(pictures) * static_cast<std::size_t>(mb_width) *
                                  static_cast<std::size_t>(mb_height);
  Scratch scratch;
  scratch.binarise = carve_binarise(arena, pictures, mb_width, mb_height, slices);
  scratch.pool.layout = layout;
  scratch.pool.items = arena.take<std::uint16_t>(layout.items());
  scratch.pool.slices = arena.take<std::uint32_t>(layout.most_segments);
  scratch.pool.all_segments = arena.take<std::uint32_t>(1);
  scratch.strings = arena.take<std::uint32_t>(strings.all_words());
  scratch.records = arena.take<StringRecord>(strings.slice_count());
  scratch.pack = arena.take(string_pack_scratch_bytes(pictures, mb_width, mb_height, slices));
  Arena in_stream(d_stream);
  scratch.chunks = carve_chunks(in_stream, layout, macroblocks);
  if (in_stream.bytes() > cabac_stream_bytes(pictures, mb_width, mb_height, slices))
    scratch.chunks = carve_chunks(arena, layout, macroblocks);
  return scratch;
}

}  // namespace

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices,
                                const PoolLayout& layout) {
  Arena arena(nullptr);
  carve(arena, pictures, mb_width, mb_height, slices, layout, nullptr);
  return arena.bytes();
}

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices) {
  std::size_t most = 0;
  // A batch may have fewer pictures, and then smaller chunks, which take more memory.
  for (int count = 1; count <= pictures; ++count) {
    most = std::max(most, cabac_scratch_bytes(count, mb_width, mb_height, slices,
                                              pool_layout(count, mb_width, mb_height, slices)));
  }
  return most;
}

std::size_t cabac_stream_bytes(int pictures, int mb_width, int mb_height, int slices) {
  return static_cast<std::size_t>(pictures) * max_packed_string_bytes(mb_width, mb_height, slices);
}

void launch_cabac(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream) {
  launch_cabac(batch, d_headers, memory, d_pictures, stream,
               pool_layout(batch.pictures, batch.mb_width, batch.mb_height, batch.slices));
}

void launch_cabac(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                  const PoolLayout& layout) {
  Arena arena(memory.scratch);
  const Scratch scratch =
      carve(arena, batch.pictures, batch.mb_width, batch.mb_height, batch.slices, layout, memory.stream);
  ChunkJob job;
  job.batch = batch;
  job.layout = string_layout(batch);
  job.pool = scratch.pool;
  job.memory = scratch.chunks;
  job.records = scratch.records;
  job.strings = scratch.strings;
  const std::uint32_t rounds = layout.rounds();
  for (job.round = 0; job.round != rounds; ++job.round) {
    launch_binarise(batch, scratch.binarise, scratch.records, scratch.pool, job.round, stream);
    launch_code_round(job, stream);
  }
  const std::size_t capacity =
      cabac_stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  launch_pack_strings(batch, d_headers, scratch.records, scratch.strings,
                      {scratch.pack, memory.stream, capacity}, d_pictures, stream);
}

}  // namespace cu264::entropy
