// Codes chunks, a lane each, as if each began a string: with low 0, from the states of walk_states and a
// range that is likely the true one. place_pieces compares it with the range behind the chunk before, from
// the first chunk on, whose range is given, and codes again where they differ, until they do nowhere.
#include "common/cuda/error_check.h"
#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/piece_bits.cuh"

namespace cu264::entropy {
namespace {

constexpr int kCodeThreads = 32, kPlaceThreads = 256;

// A piece has room for whatever its items make.
using ChunkLane = ArithmeticLane<false>;

// Where the range alone goes on, I_PCM has nothing to be done.
struct NoPcm {};

// Ends codewords in a chunk and begins others, for I_PCM macroblocks whose samples join_pcm puts between
// them.
struct CutPiece {
  const std::uint32_t* d_piece;
  PcmRecord* d_pcm;  // [mb] of the slice
  int first_mb;      // of the slice
  std::uint32_t chunk;
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
    d_last = d_pcm + mb - first_mb;
    *d_last = {chunk, pcm_mbs++, coder.bits_since(d_piece), 0};
  }
  __device__ void finish(ChunkRecord& record) const {
    record.pcm_mbs = pcm_mbs;
    record.front_bits = front_bits;
    if (pcm_mbs > 0) d_last->end = record.bits + kLowBits;
  }
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
  NoPcm no_pcm;
  if (chunk != 0) coder.code<true>(d_items - kWarmUpItems, kWarmUpItems, no_pcm);
  ChunkRecord record;
  record.first_range = known_range != 0 ? known_range : coder.range();
  coder.begin_piece(d_piece, record.first_range);
  CutPiece cut{d_piece, job.memory.pcm + job.pcm_at(slice), slice_span(job.batch, slice).first, chunk};
  coder.code(d_items, count, cut);
  record.last_range = coder.range();
  record.bits = coder.finish_piece(d_piece);
  cut.finish(record);
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

// Codes chunks of a slice again whose range is not that behind the chunk before: the first 32 from `begin`
// on, or fewer. Returns the first of them, before which all are right, or `chunks` if there is none. A warp
// calls this.
__device__ std::uint32_t code_again(const ChunkJob& job, ArithmeticShared& s_shared,
                                    std::uint32_t (&s_found)[32], std::uint32_t slice, std::uint32_t begin,
                                    std::uint32_t chunks, int lane) {
  const ChunkRecord* const d_records = job.memory.records + job.chunk_at(slice, 0);
  int found = 0;
  for (std::uint32_t first = begin; first < chunks && found < 32; first += 32) {
    const std::uint32_t chunk = first + static_cast<std::uint32_t>(lane);
    const bool differs = chunk < chunks && d_records[chunk].first_range != d_records[chunk - 1].last_range;
    const std::uint32_t all = __ballot_sync(kAllLanes, differs);
    const int place = found + __popc(all & ((1u << lane) - 1));
    if (differs && place < 32) s_found[place] = chunk;
    found += __popc(all);
  }
  __syncwarp();
  if (found == 0) return chunks;
  const std::uint32_t lowest = s_found[0], own = lane < found ? s_found[lane] : 0;
  const std::uint32_t range = own != 0 ? d_records[own - 1].last_range : 0;
  __syncwarp();
  if (own != 0) code_chunk(job, s_shared, lane, slice, own, range);
  __syncwarp();
  return lowest;
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
    if (i == words - 1) {
      const std::uint32_t end = job.memory.records[job.chunk_at(slice, chunks - 1)].bits + 1;
      word = (1 ^ sum_bit(job, slice, chunks - 1, end)) << (31 - last % 32);
    }
    d_words[i] = word;
  }
  if (threadIdx.x != 0) return;
  record.bits = last + 1;
  record.broken = broken ? 1 : 0;
}

__global__ void __launch_bounds__(kPlaceThreads) place_pieces(const __grid_constant__ ChunkJob job) {
  __shared__ ArithmeticShared s_shared;
  __shared__ std::uint32_t s_found[32];
  __shared__ WarpTotals<core::BitRun, kPlaceThreads / 32> s_totals;
  const std::uint32_t slice = blockIdx.x, chunks = job.chunks_of(slice), thread = threadIdx.x;
  if (chunks == 0) return;
  ChunkRecord* const d_records = job.memory.records + job.chunk_at(slice, 0);
  bool differs = false;
  for (std::uint32_t i = thread + 1; i < chunks; i += kPlaceThreads) {
    differs |= d_records[i].first_range != d_records[i - 1].last_range;
  }
  if (__syncthreads_or(differs) != 0) {
    if (thread < 32) {
      const int lane = static_cast<int>(thread);
      s_shared.fill_rows(lane);
      __syncwarp();
      for (std::uint32_t begin = 1; begin < chunks;)
        begin = code_again(job, s_shared, s_found, slice, begin, chunks, lane);
    }
    __syncthreads();
  }
  std::uint32_t bits = 0;
  const auto join = [](const core::BitRun& a, const core::BitRun& b) { return core::followed_by(a, b); };
  for (std::uint32_t first = 0; first < chunks; first += kPlaceThreads) {
    const std::uint32_t chunk = first + thread;
    core::BitRun own, all;
    if (chunk < chunks) own = d_records[chunk].run();
    const core::BitRun before = scan_threads(own, core::BitRun(), all, s_totals, join);
    if (chunk < chunks) {
      d_records[chunk].position = static_cast<std::uint32_t>(core::position_after(before, bits));
    }
    bits = static_cast<std::uint32_t>(core::position_after(all, bits));
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
