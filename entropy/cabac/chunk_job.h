// The arithmetic coder parallel inside a slice (docs/cabac.md): the items of a slice are cut into chunks of
// equal number, and a lane codes a chunk.
//
//   sort_bins     the bins of each context, in their order, segment by segment, and a table for walk_states
//   walk_states   the states of all contexts at the beginning of each chunk
//   code_chunks   the piece of the string that a chunk makes with low 0 at its beginning. Its range is that
//                 behind the kWarmUpItems before, begun with any range
//   place_pieces  codes chunks again whose range is not that behind the chunk before; tells where pieces lie
//   join_pieces   adds up the pieces
//   join_pcm      puts the samples of I_PCM macroblocks and the codewords behind them in their places
//
// Each I_PCM macroblock ends a codeword. The first codeword that a piece has a part of overlaps the pieces
// before it. Those behind I_PCM macroblocks of the chunk begin at whole bytes of the piece, which has no
// samples.
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
#include "entropy/cabac/chunked_strings.h"
#include "entropy/cabac/string_layout.h"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// Two ranges that are not equal are so behind this many items but for one time in ten thousand.
inline constexpr int kWarmUpItems = 512;

inline constexpr int kChunksPerSegment = 8;

// The bins of a segment lie context by context, and of a context chunk by chunk. So many runs there are, and
// their end behind them.
inline constexpr int kSegmentRuns = core::kCabacContexts * kChunksPerSegment;
inline constexpr int kRunStride = kSegmentRuns + 8;

// Contexts, and that of terminating bins, four to a row.
inline constexpr int kContextRows = core::kCabacContexts / 4 + 1;

// Entries of core::state_after_run, by state and run.
inline constexpr int kStateTableBytes = core::kCabacStates * core::kBinRuns;
static_assert(kStateTableBytes % 16 == 0);

// Words of a piece beyond eight bits an item: a guard in front, and the end of the codeword.
inline constexpr int kPieceGuardWords = 4, kPieceEndWords = 4;

// The bits of low that the range reaches, which a piece ends with and the next one overlaps.
inline constexpr std::uint32_t kLowBits = 9;

struct alignas(16) ChunkRecord {
  std::uint32_t bits = 0;      // of the piece without the last kLowBits
  std::uint32_t position = 0;  // in the string, of the piece's first bit
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

// What the coder of a chunk tells of an I_PCM macroblock.
struct alignas(16) PcmRecord {
  std::uint32_t chunk = 0;
  std::uint32_t before = 0;          // I_PCM macroblocks of the chunk before this one
  std::uint32_t begin = 0, end = 0;  // bits of the piece: of the codeword behind the samples
};

struct ChunkLayout {
  int items_log2 = 0;          // of a chunk
  std::uint32_t segments = 0;  // of a slice

  CU264_HD_MEMBER std::uint32_t chunk_items() const { return 1u << items_log2; }
  CU264_HD_MEMBER std::uint32_t chunks() const { return segments * kChunksPerSegment; }
  CU264_HD_MEMBER std::uint32_t segment_words() const { return kChunksPerSegment * chunk_items() / 32; }
  CU264_HD_MEMBER std::uint32_t piece_words() const {
    return chunk_items() / 4 + kPieceGuardWords + kPieceEndWords;
  }
};

CU264_HD ChunkLayout chunk_layout(const StringLayout& layout, int items_log2) {
  ChunkLayout chunks;
  chunks.items_log2 = items_log2;
  const std::uint32_t segment_items = kChunksPerSegment * chunks.chunk_items();
  chunks.segments = (layout.window_items + segment_items - 1) / segment_items;
  return chunks;
}

// Device memory, by slice.
struct ChunkMemory {
  std::uint16_t* runs = nullptr;  // [segment][kRunStride]: where runs of bins begin
  std::uint16_t* sums = nullptr;  // [context][segment] of each slice: numbers of bins
  std::uint32_t* bins = nullptr;  // [segment][segment_words()], the first bin lowest in each word
  // [row][chunk] of each slice: the states of four contexts, kWarmUpItems before the chunk.
  std::uint32_t* states = nullptr;
  std::uint32_t* pieces = nullptr;  // [chunk][piece_words()]
  ChunkRecord* records = nullptr;   // [chunk]
  PcmRecord* pcm = nullptr;         // [mb], where they are I_PCM
  // For all slices: core::state_after_run, and the segments that have items, in any order.
  std::uint8_t* after = nullptr;
  std::uint32_t *used = nullptr, *used_count = nullptr;
};

inline ChunkMemory carve_chunks(Arena& arena, const StringLayout& layout, const ChunkLayout& chunks) {
  const std::size_t segments = layout.slice_count() * chunks.segments,
                    all_chunks = layout.slice_count() * chunks.chunks();
  ChunkMemory memory;
  memory.runs = arena.take<std::uint16_t>(segments * kRunStride);
  memory.sums = arena.take<std::uint16_t>(segments * core::kCabacContexts);
  memory.bins = arena.take<std::uint32_t>(segments * chunks.segment_words());
  memory.states = arena.take<std::uint32_t>(all_chunks * kContextRows);
  memory.pieces = arena.take<std::uint32_t>(all_chunks * chunks.piece_words());
  memory.records = arena.take<ChunkRecord>(all_chunks);
  memory.pcm =
      arena.take<PcmRecord>(layout.slice_count() * static_cast<std::size_t>(layout.most_macroblocks));
  memory.after = arena.take<std::uint8_t>(kStateTableBytes);
  memory.used = arena.take<std::uint32_t>(segments);
  memory.used_count = arena.take<std::uint32_t>(1);
  return memory;
}

struct UsedChunk {
  std::uint32_t slice = 0, chunk = 0;
  bool exists = false;
};

struct ChunkJob {
  core::BatchView batch;
  StringLayout layout;
  ChunkLayout chunks;
  ChunkMemory memory;
  const std::uint16_t* items = nullptr;
  StringRecord* records = nullptr;
  std::uint32_t* strings = nullptr;
  int lanes_log2 = 0;  // chunks of a warp

  // The items of a slice, or 0 if its window does not hold them.
  CU264_HD_MEMBER std::uint32_t items_of(std::uint32_t slice) const {
    return fits_window(layout, records[slice]) ? records[slice].items : 0;
  }
  CU264_HD_MEMBER std::uint32_t chunks_of(std::uint32_t slice) const {
    return (items_of(slice) + chunks.chunk_items() - 1) >> chunks.items_log2;
  }
  CU264_HD_MEMBER std::size_t segment_at(std::uint32_t slice, std::uint32_t segment) const {
    return static_cast<std::size_t>(slice) * chunks.segments + segment;
  }
  // Returns where a context's sums of a slice begin.
  CU264_HD_MEMBER std::size_t sums_at(std::uint32_t slice, std::uint32_t context) const {
    return (static_cast<std::size_t>(slice) * core::kCabacContexts + context) * chunks.segments;
  }
  // Returns where the states of a row of contexts of a slice begin.
  CU264_HD_MEMBER std::size_t states_at(std::uint32_t slice, std::uint32_t row) const {
    return (static_cast<std::size_t>(slice) * kContextRows + row) * chunks.chunks();
  }
  CU264_HD_MEMBER std::size_t chunk_at(std::uint32_t slice, std::uint32_t chunk) const {
    return static_cast<std::size_t>(slice) * chunks.chunks() + chunk;
  }
  CU264_HD_MEMBER std::uint32_t* piece_at(std::uint32_t slice, std::uint32_t chunk) const {
    return memory.pieces + chunk_at(slice, chunk) * chunks.piece_words() + kPieceGuardWords;
  }
  // Returns where the records of a slice's macroblocks begin.
  CU264_HD_MEMBER std::size_t pcm_at(std::uint32_t slice) const {
    return static_cast<std::size_t>(slice) * static_cast<std::size_t>(layout.most_macroblocks);
  }
  // The chunk of a lane of a warp, whose lanes have those of used segments one after the other.
  CU264_HD_MEMBER UsedChunk used_chunk(std::uint32_t warp, int lane) const {
    const std::uint32_t at = (warp << lanes_log2) + static_cast<std::uint32_t>(lane),
                        segment = at / kChunksPerSegment;
    if (lane >> lanes_log2 != 0 || segment >= *memory.used_count) return {};
    const std::uint32_t used = memory.used[segment], slice = used / chunks.segments,
                        chunk = used % chunks.segments * kChunksPerSegment + at % kChunksPerSegment;
    return {slice, chunk, chunk < chunks_of(slice)};
  }
  // The number of warps that used_chunk() asks for, if all segments are used.
  CU264_HD_MEMBER std::uint32_t all_warps() const {
    return ((all_segments() * kChunksPerSegment - 1) >> lanes_log2) + 1;
  }
  CU264_HD_MEMBER std::uint32_t all_segments() const {
    return static_cast<std::uint32_t>(layout.slice_count()) * chunks.segments;
  }
};

ChunkJob chunk_job(const core::BatchView& batch, const std::uint16_t* d_items, StringRecord* d_records,
                   std::uint32_t* d_strings, void* d_scratch, ChunkShape shape,
                   WindowSize windows = WindowSize::ordinary);

// The stages, in their order. Asynchronous on `stream`; they throw cu264::Error if a launch is refused.
void launch_sort_bins(const ChunkJob& job, cudaStream_t stream);
void launch_walk_states(const ChunkJob& job, cudaStream_t stream);
void launch_code_chunks(const ChunkJob& job, cudaStream_t stream);
void launch_place_pieces(const ChunkJob& job, cudaStream_t stream);
void launch_join_pieces(const ChunkJob& job, cudaStream_t stream);
void launch_join_pcm(const ChunkJob& job, cudaStream_t stream);

}  // namespace cu264::entropy
