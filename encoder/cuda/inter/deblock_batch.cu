// A kernel finds the strengths and thresholds of all edges (edge_record.cuh). Then a warp filters a row of
// macroblocks; rows are taken by ticket, row 0 of every picture first, so the row above always belongs to a
// warp that already runs.
//
// The order of 8.7 is by macroblocks: the vertical edges of one are filtered after the horizontal ones of the
// macroblock to the left, so neither direction can be done for a whole picture. A macroblock of the row above
// is finished when its right neighbour's left edge is filtered, and only then is the upper edge below it.
//
// In a warp half of the lanes have a line of luma each, the others one of Cb or Cr. Lines are rows of the
// macroblock for vertical edges, and columns for horizontal ones; in between they are exchanged through
// shared memory. Luma's four edges and chroma's two are filtered by the same instructions.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/macroblock_layout.h"
#include "encoder/cuda/inter/deblock_batch.h"
#include "encoder/cuda/inter/edge_record.cuh"
#include "encoder/cuda/row_progress.cuh"

namespace cu264::encoder::cuda {
namespace {

constexpr int kRecordWarps = 8;
constexpr int kFilterWarps = 4;

// Lines have four samples of the neighbour before sixteen of the macroblock. Of chroma's two and eight, those
// next to an edge lie where luma's lie next to edges 0 and 2: -2 to 1 in 2 to 5, and 2 to 7 in 10 to 15.
constexpr int kLine = 20;
__device__ int place_in_line(int chroma_sample) {
  return chroma_sample < 2 ? 4 + chroma_sample : 8 + chroma_sample;
}
constexpr unsigned kChromaEdges = 0x0f0f;  // in a word of strengths

// The lines of a macroblock's rows, side by side with those of the one before, whose half is used in turn:
// luma, and Cb beside Cr. With this pitch no two rows that lanes read at once meet in a bank.
constexpr int kPitch = 48;
struct alignas(16) Tile {
  std::uint8_t luma[kLine * kPitch];
  std::uint8_t chroma[kLine * kPitch];
};

// What a lane has of a macroblock.
struct FilterLane {
  int lane;
  bool chroma;
  int plane, line;  // 0 to 2, and the row or column of the plane
  int size;         // samples of a macroblock's row
  int segment;      // of the four 4x4 blocks along an edge
  int row, column;  // where its lines begin in a tile, in the first half

  __device__ explicit FilterLane(int number) : lane(number) {
    chroma = lane >= 16;
    plane = chroma ? 1 + (lane >> 3 & 1) : 0;
    line = chroma ? lane & 7 : lane;
    size = chroma ? 8 : 16;
    segment = chroma ? line >> 1 : line >> 2;
    const int first = chroma ? kLine * kPitch + 16 * (plane - 1) : 0;
    row = first + kPitch * (chroma ? place_in_line(line) : 4 + line);
    column = first + line;
  }
};

// A row of a macroblock's samples: 16 of luma, 8 of chroma in the first two words.
__device__ uint4 load_row(const std::uint8_t* from, bool chroma) {
  if (!chroma) return *reinterpret_cast<const uint4*>(from);
  const uint2 half = *reinterpret_cast<const uint2*>(from);
  return make_uint4(half.x, half.y, 0, 0);
}
__device__ void store_row(std::uint8_t* to, const uint4& row, bool chroma) {
  if (chroma) {
    *reinterpret_cast<uint2*>(to) = make_uint2(row.x, row.y);
  } else {
    *reinterpret_cast<uint4*>(to) = row;
  }
}

__device__ std::uint32_t packed(const int* v) {
  return static_cast<std::uint32_t>(v[0] | v[1] << 8 | v[2] << 16 | v[3] << 24);
}
__device__ void unpack(std::uint32_t word, int* v) {
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = static_cast<int>(word >> (8 * i) & 255);
}

// The edges of one direction as a lane filters them. The first three are the same for all lanes.
struct LineEdges {
  bool outer, inner;  // some of them are filtered
  bool strong;        // the outer edge has bS 4, which it has all along
  unsigned strengths;
  core::PackedThresholds outer_thresholds, inner_thresholds;

  __device__ bool any() const { return outer || inner; }
};

// `word` is the word of the macroblock's EdgeRecord whose number is the lane's.
__device__ LineEdges edges_of(std::uint32_t word, int direction, const FilterLane& lane) {
  const unsigned pair = 3u << (2 * direction);
  LineEdges e;
  e.outer = (__ballot_sync(kAllLanes, (word & 0x000f000f) != 0) & pair) != 0;
  e.inner = (__ballot_sync(kAllLanes, (word & 0xfff0fff0) != 0) & pair) != 0;
  e.strong = (__ballot_sync(kAllLanes, (word & 0x00040004) != 0) & pair) != 0;
  e.strengths =
      __shfl_sync(kAllLanes, word, 2 * direction + (lane.segment >> 1)) >> (16 * (lane.segment & 1));
  e.strengths &= lane.chroma ? kChromaEdges : 0xffff;
  const int thresholds = lane.chroma ? 7 : 4;
  e.outer_thresholds.word = __shfl_sync(kAllLanes, word, thresholds + direction);
  e.inner_thresholds.word = __shfl_sync(kAllLanes, word, thresholds + 2);
  return e;
}

template <bool kStrong>
__device__ void filter_edge(int (&v)[kLine], int edge, const core::EdgeThresholds& t, bool chroma) {
  int* const s = v + 4 * edge;
  const core::EdgeLine line{s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]};
  const core::EdgeLine r =
      kStrong ? core::deblock_strong(line, t, chroma) : core::deblock_normal(line, t, chroma);
  s[1] = r.p2, s[2] = r.p1, s[3] = r.p0, s[4] = r.q0, s[5] = r.q1, s[6] = r.q2;
}

__device__ void filter_line(int (&v)[kLine], const LineEdges& e, bool chroma) {
  if (e.outer) {
    const core::EdgeThresholds t = e.outer_thresholds.at(static_cast<int>(e.strengths & 15));
    if (e.strong) {
      filter_edge<true>(v, 0, t, chroma);
    } else {
      filter_edge<false>(v, 0, t, chroma);
    }
  }
  if (!e.inner) return;
#pragma unroll
  for (int edge = 1; edge < 4; ++edge) {
    const int bS = static_cast<int>(e.strengths >> (4 * edge) & 15);
    filter_edge<false>(v, edge, e.inner_thresholds.at(bS), chroma);
  }
}

// Vertical edges: `before` is the row of the macroblock to the left.
__device__ void filter_row(uint4& before, uint4& own, const LineEdges& e, bool chroma) {
  int v[kLine];
  unpack(chroma ? before.y : before.w, v);
  unpack(own.x, v + 4);
  unpack(chroma ? own.x : own.y, v + 8);
  unpack(chroma ? own.y : own.z, v + 12);
  unpack(own.w, v + 16);
  filter_line(v, e, chroma);
  if (chroma) {
    before.y = packed(v);
    own.x = (packed(v + 4) & 0xffff) | (packed(v + 8) & 0xffff0000);
    own.y = packed(v + 12);
  } else {
    before.w = packed(v);
    own = make_uint4(packed(v + 4), packed(v + 8), packed(v + 12), packed(v + 16));
  }
}

// Horizontal edges: `column` is in a tile. The outermost samples are only read.
__device__ void filter_column(std::uint8_t* column, const LineEdges& e, bool chroma) {
  int v[kLine];
#pragma unroll
  for (int i = 0; i < kLine; ++i) v[i] = column[i * kPitch];
  filter_line(v, e, chroma);
#pragma unroll
  for (int i = 1; i < kLine - 1; ++i) column[i * kPitch] = static_cast<std::uint8_t>(v[i]);
}

// A row of macroblocks in the reconstruction.
struct RowPlanes {
  std::uint8_t* first[3];  // its first sample in each plane
  int pitch;               // of luma

  __device__ RowPlanes(const BatchView& batch, int picture, int mb_y) {
    const std::size_t mbs = static_cast<std::size_t>(batch.macroblocks_per_picture());
    const std::size_t before = static_cast<std::size_t>(mb_y) * batch.mb_width;
    std::uint8_t* const luma =
        batch.reconstruction + static_cast<std::size_t>(picture) * mbs * core::MacroblockLayout::kSamples;
    pitch = 16 * batch.mb_width;
    first[0] = luma + 256 * before;
    first[1] = luma + 256 * mbs + 64 * before;
    first[2] = first[1] + 64 * mbs;
  }

  // Calls move(tile, sample) for the words of four samples right above macroblock mb_x that its upper edge
  // reads: four rows of luma, two of chroma. `half` is where the macroblock lies in the tile.
  template <class Move>
  __device__ void above(std::uint8_t* tile, int half, int mb_x, int lane, const Move& move) const {
    if (lane < 16) {
      const int row = lane >> 2, at = 4 * (lane & 3);
      move(tile + kPitch * row + 16 * half + at, first[0] + (row - 4) * pitch + 16 * mb_x + at, row > 0);
    } else if (lane < 24) {
      const int c = lane >> 2 & 1, row = lane >> 1 & 1, at = 4 * (lane & 1);
      move(tile + kPitch * (kLine + 2 + row) + 16 * c + 8 * half + at,
           (c == 0 ? first[1] : first[2]) + (row - 2) * (pitch / 2) + 8 * mb_x + at, row > 0);
    }
  }
};

struct DeblockScratch {
  unsigned* progress;  // [picture][row]: macroblocks that are finished but for the row below
  unsigned* ticket;
  EdgeRecord* records;  // [picture][mb]
  std::size_t flag_bytes;
  std::size_t bytes;

  DeblockScratch(void* memory, int pictures, int mb_width, int mb_height) {
    const std::size_t rows = static_cast<std::size_t>(pictures) * static_cast<std::size_t>(mb_height);
    Arena arena(memory);
    progress = arena.take<unsigned>(rows + 1);
    ticket = progress + rows;
    flag_bytes = arena.bytes();
    records = arena.take<EdgeRecord>(rows * static_cast<std::size_t>(mb_width));
    bytes = arena.bytes();
  }
};

__global__ void __launch_bounds__(32 * kRecordWarps)
    edge_record_kernel(const __grid_constant__ BatchView batch, EdgeRecord* records) {
  const int lane = static_cast<int>(threadIdx.x) & 31, picture = static_cast<int>(blockIdx.y);
  const int number = static_cast<int>(blockIdx.x * kRecordWarps + (threadIdx.x >> 5));
  if (number >= batch.macroblocks_per_picture() || !batch.params[picture].deblock) return;
  const MacroblockAt mb{batch, picture, number % batch.mb_width, number / batch.mb_width};
  make_edge_record(mb, lane, records[mb.index()]);
}

__global__ void __launch_bounds__(32 * kFilterWarps)
    deblock_kernel(const __grid_constant__ BatchView batch, const EdgeRecord* records, unsigned* progress,
                   unsigned* ticket) {
  __shared__ Tile s_tiles[kFilterWarps];
  std::uint8_t* const tile = reinterpret_cast<std::uint8_t*>(&s_tiles[threadIdx.x >> 5]);
  const FilterLane lane(static_cast<int>(threadIdx.x) & 31);
  unsigned number = 0;
  if (lane.lane == 0) number = atomicAdd(ticket, 1u);
  number = __shfl_sync(kAllLanes, number, 0);
  const int mb_y = static_cast<int>(number / static_cast<unsigned>(batch.pictures));
  const int picture = static_cast<int>(number % static_cast<unsigned>(batch.pictures));
  if (mb_y >= batch.mb_height || !batch.params[picture].deblock) return;

  const RowPlanes planes(batch, picture, mb_y);
  std::uint8_t* const row = (lane.plane == 0   ? planes.first[0]
                             : lane.plane == 1 ? planes.first[1]
                                               : planes.first[2]) +
                            lane.line * (lane.chroma ? planes.pitch / 2 : planes.pitch);
  const std::size_t row_index = static_cast<std::size_t>(picture) * batch.mb_height + mb_y;
  const std::uint32_t* const words =
      reinterpret_cast<const std::uint32_t*>(records + row_index * batch.mb_width);
  constexpr int kWords = sizeof(EdgeRecord) / 4;
  const int word_index = min(lane.lane, static_cast<int>(offsetof(EdgeRecord, unused) / 4) - 1);
  unsigned* const own_progress = progress + row_index;
  unsigned finished_above = 0;
  bool changed = false;  // the macroblock before
  uint4 next = load_row(row, lane.chroma);
  std::uint32_t next_word = words[word_index];
  for (int mb_x = 0; mb_x < batch.mb_width; ++mb_x) {
    uint4 own = next;
    const std::uint32_t word = next_word;
    if (mb_x + 1 < batch.mb_width) {
      next = load_row(row + lane.size * (mb_x + 1), lane.chroma);
      next_word = words[kWords * (mb_x + 1) + word_index];
    }
    const LineEdges vertical = edges_of(word, 0, lane), horizontal = edges_of(word, 1, lane);
    const int half = mb_x & 1;
    __syncwarp();  // the columns are written
    uint4 before{};
    if (mb_x > 0) before = load_row(tile + lane.row + lane.size * (half ^ 1), lane.chroma);
    if (vertical.any()) filter_row(before, own, vertical, lane.chroma);
    if (mb_x > 0 && (changed || vertical.outer)) store_row(row + lane.size * (mb_x - 1), before, lane.chroma);
    store_row(tile + lane.row + lane.size * half, own, lane.chroma);
    if (horizontal.outer) {
      const unsigned needed = static_cast<unsigned>(mb_x) + 1;
      if (finished_above < needed) finished_above = wait_for_row(own_progress - 1, needed);
      // Another multiprocessor has written them, so they are not taken from the L1 cache.
      planes.above(tile, half, mb_x, lane.lane, [](std::uint8_t* in_tile, std::uint8_t* sample, bool) {
        *reinterpret_cast<std::uint32_t*>(in_tile) = __ldcg(reinterpret_cast<const std::uint32_t*>(sample));
      });
    }
    __syncwarp();
    if (horizontal.any()) filter_column(tile + lane.column + lane.size * half, horizontal, lane.chroma);
    // Late, so that the fence hardly waits for the macroblock's samples.
    if (mb_x > 0 && lane.lane == 0) publish_in_row(own_progress, static_cast<unsigned>(mb_x));
    if (horizontal.outer) {
      __syncwarp();
      planes.above(
          tile, half, mb_x, lane.lane, [](const std::uint8_t* in_tile, std::uint8_t* sample, bool filtered) {
            if (filtered)
              *reinterpret_cast<std::uint32_t*>(sample) = *reinterpret_cast<const std::uint32_t*>(in_tile);
          });
    }
    changed = vertical.any() || horizontal.any();
  }
  __syncwarp();
  const int last = batch.mb_width - 1;
  if (changed) {
    store_row(row + lane.size * last, load_row(tile + lane.row + lane.size * (last & 1), lane.chroma),
              lane.chroma);
  }
  __syncwarp();
  if (lane.lane == 0) publish_in_row(own_progress, static_cast<unsigned>(batch.mb_width));
}

}  // namespace

std::size_t deblock_scratch_bytes(int pictures, int mb_width, int mb_height) {
  return DeblockScratch(nullptr, pictures, mb_width, mb_height).bytes;
}

void launch_deblock(const BatchView& batch, void* scratch, cudaStream_t stream) {
  const DeblockScratch d(scratch, batch.pictures, batch.mb_width, batch.mb_height);
  check_cuda(cudaMemsetAsync(d.progress, 0, d.flag_bytes, stream), "clearing the progress of rows");
  const auto blocks = [](int work, int warps) { return static_cast<unsigned>((work + warps - 1) / warps); };
  const dim3 grid(blocks(batch.macroblocks_per_picture(), kRecordWarps),
                  static_cast<unsigned>(batch.pictures));
  edge_record_kernel<<<grid, 32 * kRecordWarps, 0, stream>>>(batch, d.records);
  check_launch("edge_record_kernel");
  deblock_kernel<<<blocks(batch.pictures * batch.mb_height, kFilterWarps), 32 * kFilterWarps, 0, stream>>>(
      batch, d.records, d.progress, d.ticket);
  check_launch("deblock_kernel");
}

}  // namespace cu264::encoder::cuda
