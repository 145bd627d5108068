// Adds up the pieces of each slice, which overlap by nine bits and carry into each other. A warp adds a piece
// (core/bit_sum.h), or the part of it in front of I_PCM samples.
#include "common/cuda/error_check.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/piece_bits.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) join_pieces(const __grid_constant__ ChunkJob job) {
  const std::uint32_t segment = blockIdx.x % job.chunks.segments, slice = blockIdx.x / job.chunks.segments;
  const std::uint32_t chunk = segment * kChunksPerSegment + threadIdx.x / 32, lane = threadIdx.x % 32;
  static_assert(kThreads / 32 == kChunksPerSegment);
  if (chunk >= job.chunks_of(slice) || job.records[slice].broken != 0) return;
  const ChunkRecord record = job.memory.records[job.chunk_at(slice, chunk)];
  std::uint32_t* const d_words = job.strings + job.layout.string_of(slice);
  const bool has_pcm = record.pcm_mbs > 0;
  add_bits(d_words, record.position, job.piece_at(slice, chunk), 0,
           has_pcm ? record.front_bits : record.bits + kLowBits, lane);
  if (!has_pcm || lane != 0) return;
  // A codeword ends with a one (H.264 9.3.4.5), behind which no piece has bits.
  const std::uint32_t last = record.position + record.front_bits - 1;
  if (sum_bit(job, slice, chunk, record.front_bits - 1) != 0) return;
  atomicAdd(d_words + last / 32, 1u << (31 - last % 32));
}

}  // namespace

void launch_join_pieces(const ChunkJob& job, cudaStream_t stream) {
  join_pieces<<<job.all_segments(), kThreads, 0, stream>>>(job);
  check_launch("join_pieces");
}

}  // namespace cu264::entropy
