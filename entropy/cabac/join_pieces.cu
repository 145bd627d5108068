// Adds up the pieces of each slice, which overlap by nine bits and carry into each other. A warp adds a piece
// (core/bit_sum.h).
#include "common/cuda/error_check.h"
#include "core/bit_sum.h"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) join_pieces(const __grid_constant__ ChunkJob job) {
  constexpr std::uint32_t kLowBits = 9;
  const std::uint32_t segment = blockIdx.x % job.chunks.segments, slice = blockIdx.x / job.chunks.segments;
  const std::uint32_t chunk = segment * kChunksPerSegment + threadIdx.x / 32, lane = threadIdx.x % 32;
  static_assert(kThreads / 32 == kChunksPerSegment);
  if (chunk >= job.chunks_of(slice) || job.records[slice].broken != 0) return;
  const ChunkRecord record = job.memory.records[job.chunk_at(slice, chunk)];
  const std::uint32_t* const d_piece = job.piece_at(slice, chunk);
  std::uint32_t* const d_words = job.strings + job.layout.string_of(slice);
  const auto add = [d_words](std::ptrdiff_t at, std::uint32_t value) {
    return atomicAdd(d_words + at, value) + value < value;
  };
  const std::uint32_t words = (record.bits + kLowBits + 31) / 32, first = record.position / 32;
  for (std::uint32_t i = lane; i <= words; i += 32) {
    const std::uint32_t value = core::moved_word(i > 0 ? d_piece[i - 1] : 0, i < words ? d_piece[i] : 0,
                                                 static_cast<int>(record.position % 32));
    if (value != 0) core::add_to_sum(static_cast<std::ptrdiff_t>(first + i), value, add);
  }
}

}  // namespace

void launch_join_pieces(const ChunkJob& job, cudaStream_t stream) {
  join_pieces<<<job.all_segments(), kThreads, 0, stream>>>(job);
  check_launch("join_pieces");
}

}  // namespace cu264::entropy
