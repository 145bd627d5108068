// Lays out the memory of CABAC's stages and launches them in order.
#include "entropy/cabac/cabac_batch.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "entropy/cabac/binarise.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/slice_bits_layout.h"
#include "entropy/pack/pack_cabac_slices.h"

namespace cu264::entropy {
namespace {

struct CabacScratch {
  BinariseScratch binarise;
  PoolRoom room;
  ItemPool pool;
  std::uint32_t* slice_bits;
  CabacSliceRecord* records;
  void* pack;
  void* chunks;
};

// The positions of the parts do not depend on how many pictures a batch has.
CabacScratch carve(Arena& arena, int pictures, int mb_width, int mb_height, int slices, bool inter,
                   std::uint8_t* d_stream) {
  const SliceBitsLayout slice_layout = slice_bits_layout(pictures, mb_width, mb_height, slices);
  const std::size_t stream_bytes = cabac_stream_bytes(pictures, mb_width, mb_height, slices);
  CabacScratch scratch;
  scratch.binarise = carve_binarise(arena, pictures, mb_width, mb_height, slices);
  scratch.room = pool_room(pictures, mb_width, mb_height, slices, stream_bytes, inter);
  scratch.pool.items = arena.take<std::uint16_t>(kWarmUpItems + scratch.room.items);
  scratch.pool.slices = arena.take<std::uint32_t>(most_segments(slice_layout));
  scratch.pool.all_segments = arena.take<std::uint32_t>(1);
  scratch.slice_bits = arena.take<std::uint32_t>(slice_layout.all_words());
  scratch.records = arena.take<CabacSliceRecord>(slice_layout.slice_count());
  scratch.pack = arena.take(cabac_pack_scratch_bytes(pictures, mb_width, mb_height, slices));
  // The packer writes the stream after the chunks.
  scratch.chunks = scratch.room.chunk_bytes > stream_bytes ? arena.take(scratch.room.chunk_bytes) : d_stream;
  return scratch;
}

}  // namespace

std::size_t cabac_scratch_bytes(int pictures, int mb_width, int mb_height, int slices, bool inter) {
  Arena arena(nullptr);
  carve(arena, pictures, mb_width, mb_height, slices, inter, nullptr);
  return arena.bytes();
}

std::size_t cabac_stream_bytes(int pictures, int mb_width, int mb_height, int slices) {
  return static_cast<std::size_t>(pictures) * max_packed_cabac_bytes(mb_width, mb_height, slices);
}

void launch_cabac(const core::BatchView& batch, const core::SliceHeaderBits* d_headers,
                  const CabacMemory& memory, PackedPicture* d_pictures, cudaStream_t stream,
                  const PoolLayout* layout) {
  Arena arena(memory.scratch);
  const bool inter = batch.motion != nullptr;
  const CabacScratch scratch =
      carve(arena, memory.pictures, batch.mb_width, batch.mb_height, batch.slices, inter, memory.stream);
  const std::size_t macroblocks =
      static_cast<std::size_t>(batch.pictures) * static_cast<std::size_t>(batch.macroblocks_per_picture());
  ChunkJob job;
  job.batch = batch;
  job.layout = slice_bits_layout(batch);
  job.pool = scratch.pool;
  job.pool.layout = layout != nullptr ? *layout : pool_layout(job.layout, macroblocks, scratch.room, inter);
  Arena chunks(scratch.chunks);
  job.memory = carve_chunks(chunks, job.pool.layout, macroblocks);
  job.records = scratch.records;
  job.slice_bits = scratch.slice_bits;
  const std::uint32_t rounds = job.pool.layout.rounds();
  for (job.round = 0; job.round != rounds; ++job.round) {
    launch_binarise(batch, scratch.binarise, scratch.records, job.pool, job.round, stream);
    launch_code_round(job, stream);
  }
  const std::size_t capacity =
      cabac_stream_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices);
  launch_pack_cabac_slices(batch, d_headers, scratch.records, scratch.slice_bits,
                           {scratch.pack, memory.stream, capacity}, d_pictures, stream);
}

}  // namespace cu264::entropy
