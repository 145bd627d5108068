// Codes chunks, one per lane, as if each began a slice: with low 0, the states of walk_states and a range
// that is likely to be right. place_pieces then compares each chunk's range with the range after the previous
// chunk, starting from the first chunk, whose range is known. It codes chunks again until the ranges agree
// everywhere.
#include <algorithm>

#include "common/cuda/early_launch.cuh"
#include "common/cuda/kernel_shared_memory.h"
#include "common/cuda/multiprocessors.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/piece_bits.cuh"

namespace cu264::entropy {
namespace {

constexpr int kCodeThreads = 32, kPlaceThreads = 256;

// The number of warps in a block that code chunks again: as many as shared memory has room for.
constexpr int kAgainWarps = 4;

// A piece has room for anything that its items can produce.
using ChunkLane = ArithmeticLane<false>;

// Where only the range is tracked, I_PCM needs nothing.
struct NoPcm {};

// Ends codewords in a chunk and begins others, for I_PCM macroblocks whose samples join_pcm puts between
// them.
struct CutPiece {
  const std::uint32_t* d_piece;
  PcmRecord* d_pcm;     // [mb] of the picture
  std::uint32_t chunk;  // as in PcmRecord
  std::uint32_t pcm_mbs = 0, front_bits = 0;
  PcmRecord* d_last = nullptr;

  __device__ void operator()(ChunkLane& coder, int mb) {
    if (pcm_mbs == 0) {
      // The pieces before may reach the last bit of this codeword, so join_pieces makes it a one.
      coder.leave_codeword();
      front_bits = coder.bits_since(d_piece);
    } else {
      coder.end_codeword();
      d_last->end = coder.bits_since(d_piece);
    }
    coder.align();
    d_last = d_pcm + mb;
    *d_last = {chunk, pcm_mbs++, coder.bits_since(d_piece), 0};
  }
  __device__ void finish(ChunkRecord& record) const {
    record.pcm_mbs = pcm_mbs;
    record.front_bits = front_bits;
    if (pcm_mbs > 0) d_last->end = record.bits + kLowBits;
  }
};

// Codes a chunk. `known_range`: its range, or 0 to take the range after the preceding items.
template <bool kInter>
__device__ void code_chunk(const ChunkJob& job, ArithmeticShared<kInter>& s_shared, int lane,
                           const UsedChunk& chunk, std::uint32_t known_range) {
  const PoolLayout& pool = job.pool.layout;
  const std::uint32_t size = pool.chunk_items(),
                      count = (min(job.records[chunk.slice].items - chunk.in_slice * size, size) + 7) & ~7u;
  const std::uint16_t* const d_items = job.items_of(chunk.in_round);
  std::uint32_t* const d_piece = job.piece_at(chunk.in_round);
  s_shared.start(lane, job.memory.states + chunk.in_round, pool.chunks());
  ChunkLane coder(s_shared, lane, d_piece, piece_words(pool) - kPieceGuardWords);
  NoPcm no_pcm;
  if (chunk.in_slice != 0) coder.code<true>(d_items - kWarmUpItems, kWarmUpItems, no_pcm);
  ChunkRecord record;
  record.first_range = known_range != 0 ? known_range : coder.range();
  coder.begin_piece(d_piece, record.first_range);
  CutPiece cut{d_piece, job.pcm_of(chunk.slice), job.pcm_chunk(chunk.in_round)};
  coder.code(d_items, count, cut);
  record.last_range = coder.range();
  record.bits = coder.finish_piece(d_piece);
  cut.finish(record);
  job.memory.records[chunk.in_round] = record;
}

template <bool kInter>
__global__ void __launch_bounds__(kCodeThreads) code_chunks(const __grid_constant__ ChunkJob job) {
  __shared__ ArithmeticShared<kInter> s_shared;
  if (job.round > 0) wait_for_kernels_before();
  const int lane = static_cast<int>(threadIdx.x), lanes_log2 = job.pool.layout.shape.lanes_log2;
  const std::uint32_t warps = ((job.segments() * kChunksPerSegment - 1) >> lanes_log2) + 1;
  if (job.segments() == 0) return;
  s_shared.fill_rows(lane);
  __syncwarp();
  for (std::uint32_t warp = blockIdx.x; warp < warps; warp += gridDim.x) {
    UsedChunk own;
    if (lane >> lanes_log2 == 0) own = job.chunk_at((warp << lanes_log2) + threadIdx.x);
    if (own.exists) code_chunk(job, s_shared, lane, own, 0);
  }
}

// The range after the chunk before the i-th of a slice's; 0 if there is none.
__device__ std::uint32_t range_before(const ChunkJob& job, std::uint32_t slice, const SliceChunks& chunks,
                                      std::uint32_t i) {
  return i > 0                ? job.memory.records[chunks.in_round + i - 1].last_range
         : chunks.continues() ? job.records[slice].last_range
                              : 0;
}

// Returns whether the i-th chunk of a slice was coded with a range other than the one after the previous
// chunk.
__device__ bool is_wrong(const ChunkJob& job, std::uint32_t slice, const SliceChunks& chunks,
                         std::uint32_t i) {
  const std::uint32_t range = range_before(job, slice, chunks, i);
  return range != 0 && range != job.memory.records[chunks.in_round + i].first_range;
}

// Where a thread block codes chunks again.
template <bool kInter>
struct AgainShared {
  ArithmeticShared<kInter> coders[kAgainWarps];
  std::uint32_t found[32 * kAgainWarps];
  std::uint32_t counts[kPlaceThreads / 32];  // by warp
};

// Finds the first chunks of a slice from `begin` on that were coded with a wrong range, as many as can be
// coded at once. Returns their number, or a larger one if there are more. All threads call this.
template <bool kInter>
__device__ std::uint32_t find_wrong(const ChunkJob& job, AgainShared<kInter>& s, std::uint32_t slice,
                                    const SliceChunks& chunks, std::uint32_t begin) {
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint32_t found = 0;
  for (std::uint32_t first = begin; first < chunks.count && found < 32 * kAgainWarps;
       first += kPlaceThreads) {
    const std::uint32_t i = first + threadIdx.x;
    const bool wrong = i < chunks.count && is_wrong(job, slice, chunks, i);
    const std::uint32_t all = __ballot_sync(kAllLanes, wrong);
    if (lane == 0) s.counts[warp] = static_cast<std::uint32_t>(__popc(all));
    __syncthreads();
    std::uint32_t place = found + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1)));
    for (std::uint32_t i_warp = 0; i_warp < kPlaceThreads / 32; ++i_warp) {
      if (i_warp < warp) place += s.counts[i_warp];
      found += s.counts[i_warp];
    }
    if (wrong && place < 32 * kAgainWarps) s.found[place] = i;
    __syncthreads();
  }
  return found;
}

// Codes chunks of a slice again until each has the range after the previous chunk. Every pass puts at least
// the first wrong one right. All threads call this.
template <bool kInter>
__device__ void code_again(const ChunkJob& job, AgainShared<kInter>& s, std::uint32_t slice,
                           const SliceChunks& chunks) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const bool codes = thread < 32 * kAgainWarps;
  if (codes) s.coders[thread / 32].fill_rows(lane);
  for (std::uint32_t begin = 0;;) {
    const std::uint32_t found = find_wrong(job, s, slice, chunks, begin);
    if (found == 0) return;
    begin = s.found[0];
    const bool own = codes && threadIdx.x < found;
    const std::uint32_t i = own ? s.found[thread] : 0;
    const std::uint32_t range = own ? range_before(job, slice, chunks, i) : 0;
    __syncthreads();
    if (own)
      code_chunk(job, s.coders[thread / 32], lane, {slice, chunks.in_slice + i, chunks.in_round + i, true},
                 range);
    __syncthreads();
  }
}

// Returns how many words of a slice are reached by pieces of this many bits and by the end of the codeword
// after them.
__device__ std::uint32_t words_reached(std::uint64_t bits) {
  return static_cast<std::uint32_t>((bits + kLowBits) / 32 + 1);
}

// Prepares the words of a slice for the sum of the round's pieces, up to bit `end`.
__device__ void clear_slice_bits(const ChunkJob& job, std::uint32_t slice, std::uint64_t begin,
                                 std::uint64_t end) {
  std::uint32_t* const d_words = job.slice_bits + job.layout.first_word_of(slice);
  const std::uint32_t first = begin == 0 ? 0 : words_reached(begin), after = words_reached(end),
                      aligned = min((first + 3) & ~3u, after);
  if (threadIdx.x < aligned - first) d_words[first + threadIdx.x] = 0;
  for (std::uint32_t i = aligned + 4 * threadIdx.x; i < after; i += 4 * kPlaceThreads) {
    if (i + 4 <= after) {
      *reinterpret_cast<uint4*>(d_words + i) = {};
    } else {
      for (std::uint32_t k = i; k < after; ++k) d_words[k] = 0;
    }
  }
}

// Ends the bits of a slice whose pieces have `bits` bits. The codeword ends with two more bits, the last of
// which is rbsp_stop_one_bit (H.264 9.3.4.5). No piece has bits after it, so if the pieces' sum has a zero
// there, adding a one makes it a one.
__device__ void end_slice_bits(const ChunkJob& job, std::uint32_t slice, const SliceChunks& chunks,
                               std::uint32_t bits) {
  const std::uint32_t last = bits + 1, in_round = chunks.in_round + chunks.count - 1;
  const std::uint32_t sum = sum_bit(job, slice, chunks, in_round, job.memory.records[in_round].bits + 1);
  job.slice_bits[job.layout.first_word_of(slice) + last / 32] |= (1 ^ sum) << (31 - last % 32);
  job.records[slice].bits = last + 1;
}

// Stores what the next round continues with.
__device__ void leave_slice_bits(const ChunkJob& job, std::uint32_t slice, const SliceChunks& chunks,
                                 std::uint32_t bits) {
  CabacSliceRecord& record = job.records[slice];
  const std::uint32_t in_round = chunks.in_round + chunks.count - 1, end = job.memory.records[in_round].bits;
  std::uint32_t tail = 0;
  for (std::uint32_t i = 0; i < kLowBits; ++i) tail |= sum_bit(job, slice, chunks, in_round, end + i) << i;
  record.tails[(job.round + 1) % 2] = tail;
  record.last_range = job.memory.records[in_round].last_range;
  record.bits = bits;
}

// The pieces of a slice. All threads call this.
template <bool kInter>
__device__ void place_slice(const ChunkJob& job, std::uint32_t slice, const SliceChunks& chunks,
                            AgainShared<kInter>& s_again,
                            WarpTotals<core::BitRun, kPlaceThreads / 32>& s_totals) {
  const std::uint32_t thread = threadIdx.x;
  ChunkRecord* const d_records = job.memory.records + chunks.in_round;
  bool wrong = false;
  for (std::uint32_t i = thread; i < chunks.count; i += kPlaceThreads)
    wrong |= is_wrong(job, slice, chunks, i);
  if (__syncthreads_or(wrong) != 0) code_again(job, s_again, slice, chunks);
  const std::uint64_t begin = job.records[slice].bits;
  std::uint64_t bits = begin;
  const auto join = [](const core::BitRun& a, const core::BitRun& b) { return core::followed_by(a, b); };
  for (std::uint32_t first = 0; first < chunks.count; first += kPlaceThreads) {
    const std::uint32_t i = first + thread;
    core::BitRun own, all;
    if (i < chunks.count) own = d_records[i].run();
    const core::BitRun before = scan_threads(own, core::BitRun(), all, s_totals, join);
    if (i < chunks.count) {
      d_records[i].position = static_cast<std::uint32_t>(core::position_after(before, bits));
    }
    bits = core::position_after(all, bits);
    __syncthreads();
  }
  const bool broken = (bits + 1) / 32 >= job.layout.slice_words;
  if (!broken) clear_slice_bits(job, slice, begin, bits);
  __syncthreads();
  if (thread != 0) return;
  if (broken) {
    job.records[slice].broken = 1;
  } else if (chunks.ends) {
    end_slice_bits(job, slice, chunks, static_cast<std::uint32_t>(bits));
  } else {
    leave_slice_bits(job, slice, chunks, static_cast<std::uint32_t>(bits));
  }
}

template <bool kInter>
__global__ void __launch_bounds__(kPlaceThreads) place_pieces(const __grid_constant__ ChunkJob job) {
  __shared__ AgainShared<kInter> s_again;
  __shared__ WarpTotals<core::BitRun, kPlaceThreads / 32> s_totals;
  if (job.round > 0) wait_for_kernels_before();
  const std::uint32_t segments = job.segments();
  if (segments == 0) return;
  const std::uint32_t first = job.slice_of(0), end = job.slice_of(segments - 1) + 1;
  for (std::uint32_t slice = first + blockIdx.x; slice < end; slice += gridDim.x) {
    if (job.records[slice].broken == 0) place_slice(job, slice, job.chunks_here(slice), s_again, s_totals);
    __syncthreads();
  }
}

}  // namespace

void launch_code_chunks(const ChunkJob& job, cudaStream_t stream) {
  constexpr unsigned kBlocks = 24;  // of a multiprocessor
  const auto kernel = job.pool.layout.inter ? code_chunks<true> : code_chunks<false>;
  prefer_shared_memory(kernel, cudaSharedmemCarveoutMaxShared);
  const PoolLayout& pool = job.pool.layout;
  const std::uint32_t warps = ((pool.chunks() - 1) >> pool.shape.lanes_log2) + 1;
  launch_kernel(job.round > 0, kernel,
                std::min(warps, blocks_in_round(kBlocks, job.round) * multiprocessors()), kCodeThreads, 0,
                stream, job);
}

void launch_place_pieces(const ChunkJob& job, cudaStream_t stream) {
  constexpr unsigned kBlocks = 4;  // of a multiprocessor
  const auto slices = static_cast<unsigned>(job.layout.slice_count());
  launch_kernel(job.round > 0, job.pool.layout.inter ? place_pieces<true> : place_pieces<false>,
                std::min(slices, blocks_in_round(kBlocks, job.round) * multiprocessors()), kPlaceThreads, 0,
                stream, job);
}

}  // namespace cu264::entropy
