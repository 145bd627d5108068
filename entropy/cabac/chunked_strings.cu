// Chooses how a batch is cut into chunks and launches the stages of chunk_job.h.
#include "entropy/cabac/chunked_strings.h"

#include <algorithm>

#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

// Small chunks take less time, large ones fewer instructions for their beginnings and less memory.
constexpr ChunkShape kSmallBatch{10, 3}, kLongSlices{12, 3}, kLargeBatch{12, 5};
constexpr std::size_t kMostOfSmallBatch = 32768;  // macroblocks

std::size_t scratch_bytes(const StringLayout& layout, int items_log2) {
  Arena arena(nullptr);
  carve_chunks(arena, layout, chunk_layout(layout, items_log2));
  return arena.bytes();
}

}  // namespace

ChunkShape chunk_shape(std::size_t macroblocks, WindowSize windows) {
  if (macroblocks > kMostOfSmallBatch) return kLargeBatch;
  return windows < kAmpleWindows ? kSmallBatch : kLongSlices;
}

std::size_t chunk_scratch_bytes(int pictures, int mb_width, int mb_height, int slices, WindowSize windows) {
  const std::size_t macroblocks = static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height);
  const auto bytes = [&](std::size_t count) {
    return scratch_bytes(string_layout(static_cast<int>(count), mb_width, mb_height, slices, windows),
                         chunk_shape(count * macroblocks, windows).items_log2);
  };
  // A batch may have fewer pictures, and then smaller chunks.
  const auto all = static_cast<std::size_t>(pictures);
  return std::max(bytes(all), bytes(std::min(all, kMostOfSmallBatch / macroblocks)));
}

ChunkJob chunk_job(const core::BatchView& batch, const std::uint16_t* d_items, StringRecord* d_records,
                   std::uint32_t* d_strings, void* d_scratch, ChunkShape shape, WindowSize windows) {
  ChunkJob job;
  job.batch = batch;
  job.layout = string_layout(batch, windows);
  job.chunks = chunk_layout(job.layout, shape.items_log2);
  Arena arena(d_scratch);
  job.memory = carve_chunks(arena, job.layout, job.chunks);
  job.items = d_items;
  job.records = d_records;
  job.strings = d_strings;
  job.lanes_log2 = shape.lanes_log2;
  return job;
}

void launch_code_strings_in_chunks(const core::BatchView& batch, const std::uint16_t* d_items,
                                   StringRecord* d_records, std::uint32_t* d_strings, void* d_scratch,
                                   ChunkShape shape, cudaStream_t stream, WindowSize windows) {
  const ChunkJob job = chunk_job(batch, d_items, d_records, d_strings, d_scratch, shape, windows);
  launch_sort_bins(job, stream);
  launch_walk_states(job, stream);
  launch_code_chunks(job, stream);
  launch_place_pieces(job, stream);
  launch_join_pieces(job, stream);
  launch_join_pcm(job, stream);
}

}  // namespace cu264::entropy
