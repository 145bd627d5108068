// Adds up the pieces of each slice, which overlap by nine bits and carry into each other. A warp adds a piece
// (core/bit_sum.h), or the part of it before I_PCM samples, and then the share of the I_PCM macroblocks.
#include <algorithm>

#include "common/cuda/early_launch.cuh"
#include "common/cuda/multiprocessors.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/join_pcm.cuh"
#include "entropy/cabac/piece_bits.cuh"

namespace cu264::entropy {
namespace {

constexpr unsigned kWarps = 8, kThreads = 32 * kWarps;

__device__ void join_piece(const ChunkJob& job, const UsedChunk& chunk, std::uint32_t lane) {
  if (!chunk.exists || job.records[chunk.slice].broken != 0) return;
  const ChunkRecord record = job.memory.records[chunk.in_round];
  std::uint32_t* const d_words = job.slice_bits + job.layout.first_word_of(chunk.slice);
  const bool has_pcm = record.pcm_mbs > 0;
  add_bits(d_words, record.position, job.piece_at(chunk.in_round), 0,
           has_pcm ? record.front_bits : record.bits + kLowBits, lane);
  if (!has_pcm || lane != 0) return;
  // A codeword ends with a one (H.264 9.3.4.5), and no piece has bits after it.
  const std::uint32_t last = record.position + record.front_bits - 1;
  const SliceChunks chunks = job.chunks_here(chunk.slice);
  if (sum_bit(job, chunk.slice, chunks, chunk.in_round, record.front_bits - 1) != 0) return;
  atomicAdd(d_words + last / 32, 1u << (31 - last % 32));
}

// `parts`: of a slice, with 32 macroblocks each.
__global__ void __launch_bounds__(kThreads)
    join_pieces(const __grid_constant__ ChunkJob job, std::uint32_t parts) {
  if (job.round > 0) wait_for_kernels_before();
  static_assert(kWarps == kChunksPerSegment);
  const std::uint32_t segments = job.segments(), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (segments == 0) return;
  for (std::uint32_t segment = blockIdx.x; segment < segments; segment += gridDim.x)
    join_piece(job, job.chunk_at(segment * kChunksPerSegment + warp), lane);
  const std::uint32_t first = job.slice_of(0), slices = job.slice_of(segments - 1) + 1 - first;
  for (std::uint32_t i = kWarps * blockIdx.x + warp; i < slices * parts; i += kWarps * gridDim.x)
    join_pcm(job, first + i / parts, i % parts, static_cast<int>(lane));
}

}  // namespace

void launch_join_pieces(const ChunkJob& job, cudaStream_t stream) {
  constexpr unsigned kBlocks = 8;  // of a multiprocessor
  const auto parts = static_cast<std::uint32_t>((job.layout.most_macroblocks + 31) / 32);
  const auto slices = static_cast<std::uint32_t>(job.layout.slice_count());
  const std::uint32_t wanted = std::max(job.pool.layout.segments, (slices * parts + kWarps - 1) / kWarps);
  launch_kernel(job.round > 0, join_pieces,
                std::min(wanted, blocks_in_round(kBlocks, job.round) * multiprocessors()), kThreads, 0,
                stream, job, parts);
}

}  // namespace cu264::entropy
