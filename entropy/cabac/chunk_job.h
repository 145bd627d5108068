// The arithmetic coder, parallel inside a slice (docs/cabac.md). The items of a slice are cut into chunks of
// equal length, and each lane codes one chunk. A round does this for the segments that the pool holds.
//
// clang-format off
//   sort_bins     sorts the bins of each context, in their order, segment by segment, and makes a table for
//                 walk_states
//   walk_states   finds the states of all contexts at the beginning of each chunk
//   code_chunks   codes the piece of the slice that a chunk gives if low is 0 at its beginning. To find the
//                 chunk's range, it starts kWarmUpItems earlier with an arbitrary range
//   place_pieces  codes chunks again whose range is not the one after the previous chunk, and finds where the
//                 pieces lie
//   join_pieces   adds up the pieces, and puts the samples of I_PCM macroblocks and the codewords after them
//                 in their places
// clang-format on
//
// Each I_PCM macroblock ends a codeword. A piece begins in the middle of a codeword, which overlaps the
// preceding pieces. Codewords after the chunk's I_PCM macroblocks begin at whole bytes of the piece, which
// does not contain the samples.
//
// Where a round ends within a slice, the next one continues with the states after its bins, the range after
// its last chunk, and the bits that its pieces have beyond the end of the last chunk.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/arena.h"
#include "core/bit_run.h"
#include "core/cabac_contexts.h"
#include "core/cabac_replay.h"
#include "core/cabac_states.h"
#include "core/device_batch.h"
#include "core/hd.h"
#include "entropy/cabac/item_pool.h"
#include "entropy/cabac/slice_bits_layout.h"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// The bins of a segment are stored context by context and, within a context, chunk by chunk. That makes this
// many runs; one more entry holds the end of the last. `contexts` is item_contexts().
CU264_HD constexpr int segment_runs(int contexts) {
  return contexts * kChunksPerSegment;
}
CU264_HD constexpr int run_stride(int contexts) {
  return segment_runs(contexts) + 8;
}

// Rows of four contexts, those of terminating and bypass bins included, which the contexts of P slices
// follow.
CU264_HD constexpr int context_rows(bool inter) {
  return (item_contexts(inter) + 3) / 4;
}

// Entries of core::state_after_run, by state and run.
inline constexpr int kStateTableBytes = core::kCabacStates * core::kBinRuns;
static_assert(kStateTableBytes % 16 == 0);

// Words of a piece in addition to eight bits an item: a guard in front, and the end of the codeword.
inline constexpr int kPieceGuardWords = 4, kPieceEndWords = 4;

// The bits of low that the range reaches, which a piece ends with and the next one overlaps.
inline constexpr std::uint32_t kLowBits = 9;

struct alignas(16) ChunkRecord {
  std::uint32_t bits = 0;      // of the piece without the last kLowBits
  std::uint32_t position = 0;  // in the slice, of the piece's first bit
  std::uint32_t first_range = 0, last_range = 0;
  std::uint32_t pcm_mbs = 0;     // whose samples the chunk has
  std::uint32_t front_bits = 0;  // of the piece, up to the end of the codeword before the first of them

  // From the piece's first bit to the next piece's.
  CU264_HD_MEMBER core::BitRun run() const {
    if (pcm_mbs == 0) return {bits, 0, false};
    return {front_bits, bits - core::next_byte_boundary(front_bits) + pcm_mbs * std::uint64_t{kPcmSampleBits},
            true};
  }
};

// What the coder of a chunk reports about an I_PCM macroblock.
struct alignas(16) PcmRecord {
  std::uint32_t chunk = 0;           // of all of the batch, counted from 1; 0: none has been coded yet
  std::uint32_t before = 0;          // I_PCM macroblocks of the chunk before this one
  std::uint32_t begin = 0, end = 0;  // bits of the piece: of the codeword after the samples
};

CU264_HD std::uint32_t piece_words(const PoolLayout& pool) {
  return pool.chunk_items() / 4 + kPieceGuardWords + kPieceEndWords;
}
// The words of a segment's bins, of which each is a bit.
CU264_HD std::uint32_t bin_words(const PoolLayout& pool) {
  return pool.segment_items() / 32;
}

// Device memory. Segments and chunks are numbered from the first of the round on.
struct ChunkMemory {
  std::uint16_t* runs = nullptr;  // [segment][run_stride]: where runs of bins begin
  std::uint16_t* sums = nullptr;  // [context][segment]: numbers of bins
  std::uint32_t* bins = nullptr;  // [segment][bin_words], the first bin lowest in each word
  std::uint32_t* states =
      nullptr;  // [row][chunk]: the states of four contexts, kWarmUpItems before the chunk
  std::uint32_t* pieces = nullptr;  // [chunk][piece_words]
  ChunkRecord* records = nullptr;   // [chunk]
  PcmRecord* pcm = nullptr;         // [picture][mb], where they are I_PCM
  std::uint8_t* after = nullptr;    // core::state_after_run, for all
  // By the parity of the round that reads them: the states of all contexts after the previous round.
  std::uint8_t* carried = nullptr;
};

// `macroblocks`: of the batch.
ChunkMemory carve_chunks(Arena& arena, const PoolLayout& pool, std::size_t macroblocks);

// A chunk that a round codes.
struct UsedChunk {
  std::uint32_t slice = 0;
  std::uint32_t in_slice = 0;
  std::uint32_t in_round = 0;
  bool exists = false;
};

// The chunks of a slice that a round codes.
struct SliceChunks {
  std::uint32_t in_slice = 0;  // the first of them
  std::uint32_t in_round = 0;
  std::uint32_t count = 0;
  bool ends = false;  // the slice has no more after them

  // Tells whether an earlier round coded the chunk before the first.
  CU264_HD_MEMBER bool continues() const { return in_slice > 0; }
};

struct ChunkJob {
  core::BatchView batch;
  SliceBitsLayout layout;
  ItemPool pool;
  ChunkMemory memory;
  CabacSliceRecord* records = nullptr;
  std::uint32_t* slice_bits = nullptr;
  std::uint32_t round = 0;

  CU264_HD_MEMBER std::uint32_t segments() const { return pool.segments(round); }
  CU264_HD_MEMBER std::uint32_t slice_of(std::uint32_t segment) const {
    return pool.slices[pool.first_segment(round) + segment];
  }
  // The place of a segment of the round in its slice.
  CU264_HD_MEMBER std::uint32_t in_slice(std::uint32_t slice, std::uint32_t segment) const {
    return pool.first_segment(round) + segment - records[slice].first_segment;
  }
  CU264_HD_MEMBER std::uint32_t chunks_of(std::uint32_t slice) const {
    return (records[slice].items + pool.layout.chunk_items() - 1) >> pool.layout.shape.items_log2;
  }
  CU264_HD_MEMBER SliceChunks chunks_here(std::uint32_t slice) const {
    const std::uint32_t begin = pool.first_segment(round), end = begin + segments(),
                        own = records[slice].first_segment,
                        own_end = own + pool.layout.segments_of(records[slice].items),
                        first = own > begin ? own : begin;
    SliceChunks chunks;
    if (first >= own_end || first >= end) return chunks;
    const std::uint32_t all = chunks_of(slice), here_end = (end - own) * kChunksPerSegment;
    chunks.in_slice = (first - own) * kChunksPerSegment;
    chunks.in_round = (first - begin) * kChunksPerSegment;
    chunks.ends = all <= here_end;
    chunks.count = (chunks.ends ? all : here_end) - chunks.in_slice;
    return chunks;
  }
  CU264_HD_MEMBER const std::uint16_t* items_of(std::uint32_t chunk) const {
    return pool.items_of(0) + (static_cast<std::size_t>(chunk) << pool.layout.shape.items_log2);
  }
  CU264_HD_MEMBER std::uint32_t* piece_at(std::uint32_t chunk) const {
    return memory.pieces + static_cast<std::size_t>(chunk) * piece_words(pool.layout) + kPieceGuardWords;
  }
  // The I_PCM records, [mb] of the slice's picture, and how they refer to a chunk of the round.
  CU264_HD_MEMBER PcmRecord* pcm_of(std::uint32_t slice) const {
    const auto picture = static_cast<std::ptrdiff_t>(slice) / batch.slices;
    return memory.pcm + picture * batch.macroblocks_per_picture();
  }
  CU264_HD_MEMBER std::uint32_t pcm_chunk(std::uint32_t chunk) const {
    return pool.first_segment(round) * kChunksPerSegment + chunk + 1;
  }
  // The states of a slice's contexts after the previous round, and where this round stores its own.
  CU264_HD_MEMBER const std::uint8_t* carried_in() const {
    return memory.carried + round % 2 * core::kPItemContexts;
  }
  CU264_HD_MEMBER std::uint8_t* carried_out() const {
    return memory.carried + (round + 1) % 2 * core::kPItemContexts;
  }
  // A chunk of the round by its number.
  CU264_HD_MEMBER UsedChunk chunk_at(std::uint32_t number) const {
    UsedChunk chunk;
    chunk.in_round = number;
    const std::uint32_t segment = number / kChunksPerSegment;
    if (segment >= segments()) return chunk;
    chunk.slice = slice_of(segment);
    chunk.in_slice = in_slice(chunk.slice, segment) * kChunksPerSegment + chunk.in_round % kChunksPerSegment;
    chunk.exists = chunk.in_slice < chunks_of(chunk.slice);
    return chunk;
  }
};

// Launches all stages of a round. Asynchronous on `stream`; these throw cu264::Error if a launch is refused.
void launch_code_round(const ChunkJob& job, cudaStream_t stream);

// The stages, in their order.
void launch_sort_bins(const ChunkJob& job, cudaStream_t stream);
void launch_walk_states(const ChunkJob& job, cudaStream_t stream);
void launch_code_chunks(const ChunkJob& job, cudaStream_t stream);
void launch_place_pieces(const ChunkJob& job, cudaStream_t stream);
void launch_join_pieces(const ChunkJob& job, cudaStream_t stream);

}  // namespace cu264::entropy
