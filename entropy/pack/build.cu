// RBSPs from macroblock rows. A thread gathers one word: whatever overlaps its 32 bits is shifted there, so
// that no two threads write the same word.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "core/bit_run.h"
#include "core/mb_syntax.h"
#include "entropy/cavlc/word_sink.cuh"
#include "entropy/launch_check.cuh"
#include "entropy/pack/escapes.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

using core::MacroblockKind;

constexpr int kThreads = kTileWords;
constexpr int kBlocksAtOnce = 2048;  // more than a large GPU holds

// The 32 bits at `offset` of a string of `length` bits, zeros around it.
__device__ std::uint32_t bits_at(const std::uint32_t* words, int length, int offset) {
  if (offset <= -32 || offset >= length) return 0;
  if (offset < 0) return words[0] >> -offset;
  const int word = offset >> 5;
  const std::uint32_t next = 32 * (word + 1) < length ? words[word + 1] : 0;
  return __funnelshift_l(next, words[word], offset & 31);
}

// Macroblocks [first, end) of a slice.
struct MbRange {
  int first, end;
};

class SliceRbsp {
 public:
  __device__ SliceRbsp(const PackJob& job, int picture, int slice, std::uint64_t bits)
      : header_(job.header(picture, slice)),
        positions_(job.scratch.positions +
                   static_cast<std::size_t>(picture) * job.batch.macroblocks_per_picture()),
        lengths_(job.scratch.coded.lengths + (positions_ - job.scratch.positions)),
        rows_(job.scratch.coded.rows + (positions_ - job.scratch.positions) * kRowWords),
        all_{job.first_mb(slice), job.first_mb(slice + 1)},
        bits_(bits) {}

  __device__ MbRange all() const { return all_; }

  // The last macroblock of a range that begins at or before `bit`, or its first one.
  __device__ int last_beginning(MbRange range, std::uint64_t bit) const {
    while (range.end - range.first > 1) {
      const int middle = (range.first + range.end) / 2;
      (positions_[middle] <= bit ? range.first : range.end) = middle;
    }
    return range.first;
  }

  // `range` holds every macroblock that overlaps the word.
  __device__ std::uint32_t word(std::int64_t index, MbRange range) const {
    const std::uint64_t from = 32 * static_cast<std::uint64_t>(index);
    std::uint32_t word = header_word(from);
    for (int mb = last_beginning(range, from); mb < range.end; ++mb) {
      const std::uint64_t position = positions_[mb];
      if (position >= from + 32) break;
      word |= macroblock_word(mb, position, static_cast<int>(from - position));
    }
    if (bits_ - from < 32) word |= 0x80000000u >> (bits_ - from);  // rbsp_stop_one_bit
    return word;
  }

 private:
  __device__ std::uint32_t header_word(std::uint64_t from) const {
    if (from >= static_cast<std::uint64_t>(header_.length)) return 0;
    const std::uint64_t left_aligned = header_.bits << (64 - header_.length);
    return static_cast<std::uint32_t>(left_aligned >> (32 - from));
  }

  __device__ std::uint32_t macroblock_word(int mb, std::uint64_t position, int offset) const {
    const MacroblockLength packed = lengths_[mb];
    const std::uint32_t* const row = rows_ + static_cast<std::size_t>(mb) * kRowWords;
    const int length = static_cast<int>(packed & 0xffff);
    if (static_cast<MacroblockKind>(packed >> 30) != MacroblockKind::pcm) return bits_at(row, length, offset);
    RegisterSink type;
    core::put_ue(type, core::kMbTypePcm);
    const std::uint32_t type_word = left_aligned(type.value, type.length);
    const int to_samples = static_cast<int>(core::next_byte_boundary(position + type.length) - position);
    return bits_at(&type_word, type.length, offset) | bits_at(row, kPcmSampleBits, offset - to_samples);
  }

  const SliceHeaderBits header_;
  const std::uint64_t* const positions_;
  const MacroblockLength* const lengths_;
  const std::uint32_t* const rows_;
  const MbRange all_;
  const std::uint64_t bits_;
};

__global__ void __launch_bounds__(kThreads) build_tiles(const __grid_constant__ PackJob job) {
  using Reduce = cub::BlockReduce<std::uint32_t, kThreads>;
  __shared__ typename Reduce::TempStorage s_reduce;
  __shared__ std::uint32_t s_words[kTileWords];
  const int slice = static_cast<int>(blockIdx.y), picture = static_cast<int>(blockIdx.z);
  const int thread = static_cast<int>(threadIdx.x);
  const SliceRecord& record = job.slice(picture, slice);
  const SliceRbsp rbsp(job, picture, slice, record.bits);
  const std::uint64_t rbsp_bytes = record.rbsp_bytes();
  const std::uint32_t tiles = record.tiles();
  const std::size_t first_tile = job.first_tile_of(picture, slice);
  for (std::uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t first = static_cast<std::int64_t>(tile) * kTileWords, index = first + thread;
    const std::size_t at = first_tile + tile;
    MbRange range = rbsp.all();
    range.first = job.scratch.tile_mbs[at];
    if (tile + 1 < tiles) range.end = 1 + job.scratch.tile_mbs[at + 1];
    const int bytes = bytes_in_word(index, rbsp_bytes);
    s_words[thread] = bytes > 0 ? rbsp.word(index, range) : 0;
    __syncthreads();
    const auto word_at = [&](std::int64_t i) {
      return i >= first ? s_words[i - first] : rbsp.word(i, rbsp.all());
    };
    const std::uint32_t escapes = bytes > 0 ? __popc(escapes_in_word(index, bytes, word_at)) : 0;
    job.scratch.rbsp[at * kTileWords + thread] = s_words[thread];
    const std::uint32_t all = Reduce(s_reduce).Sum(escapes);
    if (thread == 0) job.scratch.tile_escapes[at] = all;
    __syncthreads();
  }
}

// Counts of tiles to counts before tiles, and each slice's sum.
__global__ void __launch_bounds__(kThreads) sum_escapes(const __grid_constant__ PackJob job) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage s_scan;
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  SliceRecord& record = job.slice(picture, slice);
  const std::uint32_t tiles = record.tiles();
  std::uint32_t* const d_escapes = job.scratch.tile_escapes + job.first_tile_of(picture, slice);
  std::uint32_t sum = 0;
  for (std::uint32_t chunk = 0; chunk < tiles; chunk += kThreads) {
    const std::uint32_t tile = chunk + threadIdx.x;
    const std::uint32_t escapes = tile < tiles ? d_escapes[tile] : 0;
    std::uint32_t before = 0, all = 0;
    Scan(s_scan).ExclusiveSum(escapes, before, all);
    if (tile < tiles) d_escapes[tile] = sum + before;
    sum += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) record.escapes = sum;
}

}  // namespace

void launch_build(const PackJob& job, cudaStream_t stream) {
  const auto slices = static_cast<unsigned>(job.batch.slices);
  const auto pictures = static_cast<unsigned>(job.batch.pictures);
  const unsigned blocks_a_slice = 1 + kBlocksAtOnce / (slices * pictures);
  build_tiles<<<dim3(blocks_a_slice, slices, pictures), kThreads, 0, stream>>>(job);
  check_launch("build_tiles");
  sum_escapes<<<dim3(slices, pictures), kThreads, 0, stream>>>(job);
  check_launch("sum_escapes");
}

}  // namespace cu264::entropy
