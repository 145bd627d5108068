// Emulation prevention bytes counted, then the places of slices and pictures in the stream.
#include <algorithm>

#include "entropy/launch_check.cuh"
#include "entropy/pack/escapes.cuh"
#include "entropy/pack/group_payload.cuh"
#include "entropy/pack/pack_stages.cuh"
#include "entropy/scan/block_scan.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 128;
constexpr int kPlaceWarps = 16;
// Enough to fill any GPU.
constexpr std::uint32_t kMostEscapeBlocks = 1024;
constexpr unsigned kAllLanes = 0xffffffffu;

// All lanes: one group's.
__device__ void count_in_group(const PackJob& job, std::uint32_t group, int lane) {
  const GroupPayload payload(job, group);
  if (payload.slice().broken != 0) return;
  const auto first = static_cast<std::int64_t>(payload.first_byte());
  const auto word_at = [&](std::int64_t at) { return payload.word_at(static_cast<int>(at - first)); };
  int escapes = 0;
  // The first lane only looks what comes before the second one's word.
  for (int base = -4; base < payload.bytes() - 4; base += 4 * 31) {
    const int i = base + 4 * lane, bytes = min(payload.bytes() - i, 4);
    const std::uint32_t word = bytes > 0 ? payload.word_at(i) : 0;
    const std::uint32_t before = __shfl_up_sync(kAllLanes, word, 1);
    if (lane > 0 && bytes > 0 && may_need_escapes(before, word)) {
      escapes += __popc(escapes_in_word(first + i, bytes, word_at));
    }
    __syncwarp();
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) escapes += __shfl_xor_sync(kAllLanes, escapes, step);
  if (lane != 0) return;
  job.scratch.escapes[group] = static_cast<std::uint32_t>(escapes);
  if (escapes == 0) return;
  atomicAdd(&job.scratch.slices[payload.group().slice].escapes, static_cast<std::uint32_t>(escapes));
}

// A warp a group, of those in which there may be any.
__global__ void __launch_bounds__(kThreads) count_escapes(const __grid_constant__ PackJob job) {
  const std::uint32_t count = *job.scratch.unknown_count, warps = gridDim.x * (kThreads / 32);
  for (std::uint32_t i = (blockIdx.x * kThreads + threadIdx.x) / 32; i < count; i += warps) {
    count_in_group(job, job.scratch.unknown[i], static_cast<int>(threadIdx.x) & 31);
  }
}

// A warp: one picture, whose slices have their places.
__device__ void report_picture(const PackJob& job, int picture, int lane) {
  std::uint64_t bits = 0, header_bits = 0;
  std::uint32_t mbs[3] = {}, broken = 0;
  for (int slice = lane; slice < job.batch.slices; slice += 32) {
    const SliceRecord& record = job.slice(picture, slice);
    header_bits += record.header_bits;
    bits += record.bits - static_cast<std::uint64_t>(record.header.length);
    for (int kind = 0; kind < 3; ++kind) mbs[kind] += record.mbs[kind];
    broken |= record.broken;
  }
  for (int step = 16; step > 0; step /= 2) {
    header_bits += __shfl_down_sync(kAllLanes, header_bits, step);
    bits += __shfl_down_sync(kAllLanes, bits, step);
    for (int kind = 0; kind < 3; ++kind) mbs[kind] += __shfl_down_sync(kAllLanes, mbs[kind], step);
    broken |= __shfl_down_sync(kAllLanes, broken, step);
  }
  if (lane != 0) return;
  const SliceRecord& last = job.slice(picture, job.batch.slices - 1);
  const std::uint64_t end = last.offset + last.prefix_bytes + last.rbsp_bytes() + last.escapes;
  PackedPicture packed;
  packed.offset = job.slice(picture, 0).offset;
  packed.size = end - packed.offset;
  packed.header_bits = header_bits;
  packed.residual_bits = bits - header_bits;
  packed.intra4x4_mbs = mbs[0];
  packed.intra16x16_mbs = mbs[1];
  packed.pcm_mbs = mbs[2];
  packed.failure = broken != 0 ? 2 : end > job.capacity ? 1 : 0;
  job.pictures[picture] = packed;
}

// A warp a picture; every block adds up for itself what comes before its own.
__global__ void __launch_bounds__(32 * kPlaceWarps) place_nal_units(const __grid_constant__ PackJob job) {
  __shared__ scan::WarpTotals<std::uint64_t, kPlaceWarps> s_totals;
  const int first = static_cast<int>(blockIdx.x) * kPlaceWarps;
  const int end = min(first + kPlaceWarps, job.batch.pictures);
  std::uint64_t stream_bytes = 0;
  for (int chunk = 0; chunk < end * job.batch.slices; chunk += 32 * kPlaceWarps) {
    const int slice = chunk + static_cast<int>(threadIdx.x);
    std::uint64_t bytes = 0, all = 0;
    if (slice < end * job.batch.slices) {
      const SliceRecord& record = job.scratch.slices[slice];
      bytes = record.prefix_bytes + record.rbsp_bytes() + record.escapes;
    }
    const std::uint64_t before = scan::scan_threads(bytes, std::uint64_t{0}, all, s_totals, scan::Plus());
    if (slice >= first * job.batch.slices && slice < end * job.batch.slices) {
      job.scratch.slices[slice].offset = stream_bytes + before;
    }
    stream_bytes += all;
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *job.scratch.unknown_count = 0;
  const int picture = first + static_cast<int>(threadIdx.x) / 32;
  if (picture < end) report_picture(job, picture, static_cast<int>(threadIdx.x) % 32);
}

}  // namespace

void launch_escape(const PackJob& job, cudaStream_t stream) {
  constexpr std::uint32_t kWarps = kThreads / 32;
  const std::uint32_t blocks = std::min((job.groups + kWarps - 1) / kWarps, kMostEscapeBlocks);
  count_escapes<<<blocks, kThreads, 0, stream>>>(job);
  check_launch("count_escapes");
  const auto place_blocks = static_cast<unsigned>((job.batch.pictures + kPlaceWarps - 1) / kPlaceWarps);
  place_nal_units<<<place_blocks, 32 * kPlaceWarps, 0, stream>>>(job);
  check_launch("place_nal_units");
}

}  // namespace cu264::entropy
