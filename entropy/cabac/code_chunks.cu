// Codes chunks, a lane each, as if each began a string: with low 0, from the states of walk_states and a
// range that is likely the true one. place_pieces compares it with the range behind the chunk before, from
// the first chunk on, whose range is given, and codes again where they differ, until they do nowhere.
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

constexpr int kCodeThreads = 32, kPlaceThreads = 256;

// A piece has room for whatever its items make.
using ChunkLane = ArithmeticLane<false>;

struct NoSamples {
  __device__ void operator()(ChunkLane&, int) const {}
};

// Codes a chunk. `known_range`: its range, or 0 to take that behind the items before.
__device__ void code_chunk(const ChunkJob& job, ArithmeticShared& s_shared, int lane, std::uint32_t slice,
                           std::uint32_t chunk, std::uint32_t known_range) {
  const std::uint32_t size = job.chunks.chunk_items(), begin = chunk * size;
  const std::uint32_t count = (min(job.items_of(slice) - begin, size) + 7) & ~7u;
  const std::uint16_t* const d_items = job.items + job.layout.window_of(slice) + begin;
  std::uint32_t* const d_piece = job.piece_at(slice, chunk);
  const std::size_t at = job.chunk_at(slice, chunk);
  s_shared.start(lane, job.memory.states + job.states_at(slice, 0) + chunk, job.chunks.chunks());
  ChunkLane coder(s_shared, lane, d_piece, job.chunks.piece_words() - kPieceGuardWords);
  if (chunk != 0) coder.code<true>(d_items - kWarmUpItems, kWarmUpItems, NoSamples());
  ChunkRecord record;
  record.first_range = known_range != 0 ? known_range : coder.range();
  coder.begin_piece(d_piece, record.first_range);
  coder.code(d_items, count, NoSamples());
  record.last_range = coder.range();
  record.bits = coder.finish_piece(d_piece);
  job.memory.records[at] = record;
}

__global__ void __launch_bounds__(kCodeThreads) code_chunks(const __grid_constant__ ChunkJob job) {
  __shared__ ArithmeticShared s_shared;
  const int lane = static_cast<int>(threadIdx.x);
  if (blockIdx.x << job.lanes_log2 >= *job.memory.used_count * kChunksPerSegment) return;
  s_shared.fill_rows(lane);
  __syncwarp();
  const UsedChunk own = job.used_chunk(blockIdx.x, lane);
  if (own.exists) code_chunk(job, s_shared, lane, own.slice, own.chunk, 0);
}

// Codes the chunks of a slice again whose range is not that behind the chunk before. A warp calls this.
__device__ void code_again(const ChunkJob& job, ArithmeticShared& s_shared, std::uint32_t slice,
                           std::uint32_t chunks, int lane) {
  const ChunkRecord* const d_records = job.memory.records + job.chunk_at(slice, 0);
  for (std::uint32_t first = 1; first < chunks; first += 32) {
    const std::uint32_t chunk = first + static_cast<std::uint32_t>(lane);
    const std::uint32_t range = chunk < chunks ? d_records[chunk - 1].last_range : 0;
    const bool differs = chunk < chunks && d_records[chunk].first_range != range;
    __syncwarp();
    if (differs) code_chunk(job, s_shared, lane, slice, chunk, range);
    __syncwarp();
  }
}

// Bit `at` of a slice's string, without the carry into it.
__device__ std::uint32_t sum_bit(const ChunkJob& job, std::uint32_t slice, std::uint32_t chunks,
                                 std::uint32_t at) {
  constexpr std::uint32_t kLowBits = 9;
  std::uint32_t sum = 0;
  for (std::uint32_t chunk = chunks; chunk-- > 0;) {
    const ChunkRecord& record = job.memory.records[job.chunk_at(slice, chunk)];
    if (record.position + record.bits + kLowBits <= at) break;
    if (record.position > at) continue;
    const std::uint32_t bit = at - record.position;
    sum ^= job.piece_at(slice, chunk)[bit / 32] >> (31 - bit % 32) & 1;
  }
  return sum;
}

// Prepares the words of a slice's string for the sum of the pieces, which have `bits` bits. The codeword ends
// with two bits more, the last of which is rbsp_stop_one_bit (H.264 9.3.4.5). No bits of pieces lie behind
// it, so that a one where the pieces' sum has a zero makes it a one.
__device__ void prepare_string(const ChunkJob& job, std::uint32_t slice, std::uint32_t chunks,
                               std::uint32_t bits) {
  StringRecord& record = job.records[slice];
  const std::uint32_t last = bits + 1, words = last / 32 + 1;
  const bool broken = words > job.layout.string_words;
  std::uint32_t* const d_words = job.strings + job.layout.string_of(slice);
  for (std::uint32_t i = threadIdx.x; i < words && !broken; i += kPlaceThreads) {
    std::uint32_t word = 0;
    if (i == words - 1) word = (1 ^ sum_bit(job, slice, chunks, last)) << (31 - last % 32);
    d_words[i] = word;
  }
  if (threadIdx.x != 0) return;
  record.bits = last + 1;
  record.broken = broken ? 1 : 0;
}

__global__ void __launch_bounds__(kPlaceThreads) place_pieces(const __grid_constant__ ChunkJob job) {
  __shared__ ArithmeticShared s_shared;
  __shared__ WarpTotals<std::uint32_t, kPlaceThreads / 32> s_totals;
  const std::uint32_t slice = blockIdx.x, chunks = job.chunks_of(slice), thread = threadIdx.x;
  if (chunks == 0) return;
  ChunkRecord* const d_records = job.memory.records + job.chunk_at(slice, 0);
  for (bool filled = false;; filled = true) {
    bool differs = false;
    for (std::uint32_t i = thread + 1; i < chunks; i += kPlaceThreads) {
      differs |= d_records[i].first_range != d_records[i - 1].last_range;
    }
    if (__syncthreads_or(differs) == 0) break;
    if (thread < 32) {
      const int lane = static_cast<int>(thread);
      if (!filled) s_shared.fill_rows(lane);
      __syncwarp();
      code_again(job, s_shared, slice, chunks, lane);
    }
    __syncthreads();
  }
  std::uint32_t bits = 0;
  for (std::uint32_t first = 0; first < chunks; first += kPlaceThreads) {
    const std::uint32_t chunk = first + thread;
    std::uint32_t all = 0;
    const std::uint32_t own = chunk < chunks ? d_records[chunk].bits : 0;
    const std::uint32_t before = scan_threads(own, 0u, all, s_totals, Plus());
    if (chunk < chunks) d_records[chunk].position = bits + before;
    bits += all;
    __syncthreads();
  }
  prepare_string(job, slice, chunks, bits);
}

}  // namespace

void launch_code_chunks(const ChunkJob& job, cudaStream_t stream) {
  check_cuda(cudaFuncSetAttribute(code_chunks, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "cudaFuncSetAttribute");
  code_chunks<<<job.all_warps(), kCodeThreads, 0, stream>>>(job);
  check_launch("code_chunks");
}

void launch_place_pieces(const ChunkJob& job, cudaStream_t stream) {
  place_pieces<<<static_cast<unsigned>(job.layout.slice_count()), kPlaceThreads, 0, stream>>>(job);
  check_launch("place_pieces");
}

}  // namespace cu264::entropy
