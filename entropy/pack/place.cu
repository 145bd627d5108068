// Bit positions: a thread block scans a slice's macroblocks.
#include <cub/block/block_scan.cuh>

#include "core/bit_run.h"
#include "core/block.h"
#include "entropy/launch_check.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {
namespace {

using core::BitRun;

constexpr int kThreads = 512;
constexpr int kMbsPerThread = 4;
constexpr int kTileBits = 32 * kTileWords;
static_assert(32 * kRowWords < kTileBits);

struct FollowedBy {
  __device__ BitRun operator()(const BitRun& a, const BitRun& b) const { return core::followed_by(a, b); }
};

__device__ core::MacroblockKind kind_of(MacroblockLength length) {
  return static_cast<core::MacroblockKind>(length >> 30);
}

__device__ BitRun run_of(MacroblockLength length) {
  BitRun run;
  run.before = length & 0xffff;
  run.aligned = kind_of(length) == core::MacroblockKind::pcm;
  if (run.aligned) run.after = kPcmSampleBits;
  return run;
}

__global__ void __launch_bounds__(kThreads) place_macroblocks(const __grid_constant__ PackJob job) {
  using Scan = cub::BlockScan<BitRun, kThreads>;
  __shared__ typename Scan::TempStorage s_scan;
  __shared__ std::uint32_t s_header_bits, s_mbs[3], s_broken;
  const int slice = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const int first = job.first_mb(slice), end = job.first_mb(slice + 1);
  const std::size_t base = static_cast<std::size_t>(picture) * job.batch.macroblocks_per_picture();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < 3) s_mbs[thread] = 0;
  if (thread == 0) s_header_bits = s_broken = 0;

  std::int32_t* const d_tile_mbs = job.scratch.tile_mbs + job.first_tile_of(picture, slice);
  if (thread == 0) d_tile_mbs[0] = first;

  std::uint32_t header_bits = 0, mbs[3] = {}, broken = 0;
  std::uint64_t position = static_cast<std::uint64_t>(job.header(picture, slice).length);
  for (int chunk = first; chunk < end; chunk += kThreads * kMbsPerThread) {
    const int own = chunk + thread * kMbsPerThread;
    BitRun runs[kMbsPerThread], run, before, whole;
#pragma unroll
    for (int i = 0; i < kMbsPerThread; ++i) {
      if (own + i >= end) break;
      const MacroblockLength length = job.scratch.coded.lengths[base + own + i];
      const bool too_long = (length & 0xffff) == kTooManyBits;
      broken |= too_long;
      if (!too_long) runs[i] = run_of(length);
      header_bits += (length >> 16) & 0x1fff;
#pragma unroll
      for (int kind = 0; kind < 3; ++kind) mbs[kind] += static_cast<int>(kind_of(length)) == kind;
      run = core::followed_by(run, runs[i]);
    }
    Scan(s_scan).ExclusiveScan(run, before, BitRun(), FollowedBy(), whole);
    std::uint64_t own_position = core::position_after(before, position);
#pragma unroll
    for (int i = 0; i < kMbsPerThread; ++i) {
      if (own + i >= end) break;
      job.scratch.positions[base + own + i] = own_position;
      const std::uint64_t next_position = core::position_after(runs[i], own_position);
      // No macroblock is as long as a tile: at most one begins in it.
      const std::uint64_t tile = (own_position + kTileBits - 1) / kTileBits;
      if (tile * kTileBits < next_position) d_tile_mbs[tile] = own + i;
      own_position = next_position;
    }
    position = core::position_after(whole, position);
    __syncthreads();
  }

  // Sums within a warp first: few atomics are left.
  const auto add = [&](std::uint32_t* s_sum, std::uint32_t value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if ((thread & 31) == 0 && value != 0) atomicAdd(s_sum, value);
  };
  add(&s_header_bits, header_bits);
  for (int kind = 0; kind < 3; ++kind) add(&s_mbs[kind], mbs[kind]);
  add(&s_broken, broken);
  __syncthreads();
  if (thread != 0) return;
  // A last tile that holds the trailing bits alone.
  if (position % kTileBits == 0) d_tile_mbs[position / kTileBits] = end - 1;
  SliceRecord record;
  record.bits = position;
  record.header_bits = s_header_bits;
  for (int kind = 0; kind < 3; ++kind) record.mbs[kind] = s_mbs[kind];
  record.broken = s_broken;
  job.slice(picture, slice) = record;
}

}  // namespace

void launch_place(const PackJob& job, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(job.batch.slices), static_cast<unsigned>(job.batch.pictures));
  place_macroblocks<<<grid, kThreads, 0, stream>>>(job);
  check_launch("place_macroblocks");
}

}  // namespace cu264::entropy
