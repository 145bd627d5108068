// Lays out the memory of the coder in chunks and launches its stages.
#include "entropy/cabac/chunk_job.h"

#include "common/cuda/error_check.h"

namespace cu264::entropy {

ChunkMemory carve_chunks(Arena& arena, const PoolLayout& pool, std::size_t macroblocks) {
  const std::size_t segments = pool.segments, chunks = pool.chunks();
  const int contexts = item_contexts(pool.inter);
  ChunkMemory memory;
  memory.runs = arena.take<std::uint16_t>(segments * static_cast<std::size_t>(run_stride(contexts)));
  memory.sums = arena.take<std::uint16_t>(segments * static_cast<std::size_t>(contexts));
  memory.bins = arena.take<std::uint32_t>(segments * bin_words(pool));
  memory.states = arena.take<std::uint32_t>(chunks * static_cast<std::size_t>(context_rows(pool.inter)));
  memory.pieces = arena.take<std::uint32_t>(chunks * piece_words(pool));
  memory.records = arena.take<ChunkRecord>(chunks);
  memory.pcm = arena.take<PcmRecord>(macroblocks);
  memory.after = arena.take<std::uint8_t>(kStateTableBytes);
  memory.carried = arena.take<std::uint8_t>(2 * core::kPItemContexts);
  return memory;
}

void launch_code_round(const ChunkJob& job, cudaStream_t stream) {
  if (job.round == 0) {
    const std::size_t macroblocks = static_cast<std::size_t>(job.batch.pictures) *
                                    static_cast<std::size_t>(job.batch.macroblocks_per_picture());
    check_cuda(cudaMemsetAsync(job.memory.pcm, 0, macroblocks * sizeof(PcmRecord), stream),
               "cudaMemsetAsync");
  }
  launch_sort_bins(job, stream);
  launch_walk_states(job, stream);
  launch_code_chunks(job, stream);
  launch_place_pieces(job, stream);
  launch_join_pieces(job, stream);
}

}  // namespace cu264::entropy
