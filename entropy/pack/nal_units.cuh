// Computes where the NAL units of slices and the pictures lie in the stream. One thread block does this when
// all slices are known.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "common/cuda/thread_scan.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {

// Called by one thread. Returns whether the slices of all other thread blocks are done.
__device__ inline bool is_last_block(std::uint32_t* d_finished_slices) {
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device> finished(*d_finished_slices);
  const bool last = finished.fetch_add(1, cuda::memory_order_acq_rel) + 1 == gridDim.x * gridDim.y;
  if (last) *d_finished_slices = 0;  // for the next launch
  return last;
}

// Reports one picture, whose slices have their offsets. One thread calls this for each picture.
__device__ inline void report_picture(const PackJob& job, int picture) {
  std::uint64_t bits = 0, header_bits = 0;
  std::uint32_t mbs[core::kMacroblockKinds] = {}, broken = 0;
  for (int slice = 0; slice < job.batch.slices; ++slice) {
    const SliceRecord& record = job.slice(picture, slice);
    header_bits += record.header_bits;
    bits += record.bits - static_cast<std::uint64_t>(record.header.length);
    for (int kind = 0; kind < core::kMacroblockKinds; ++kind) mbs[kind] += record.mbs[kind];
    broken |= record.broken;
  }
  const SliceRecord& last = job.slice(picture, job.batch.slices - 1);
  const std::uint64_t end = last.offset + last.nal_bytes();
  PackedPicture packed;
  packed.offset = job.slice(picture, 0).offset;
  packed.size = end - packed.offset;
  packed.header_bits = header_bits;
  packed.residual_bits = bits - header_bits;
  const auto mbs_of = [&mbs](core::MacroblockKind kind) { return mbs[static_cast<int>(kind)]; };
  packed.intra4x4_mbs = mbs_of(core::MacroblockKind::intra4x4);
  packed.intra8x8_mbs = mbs_of(core::MacroblockKind::intra8x8);
  packed.intra16x16_mbs = mbs_of(core::MacroblockKind::intra16x16);
  packed.pcm_mbs = mbs_of(core::MacroblockKind::pcm);
  packed.inter_mbs = static_cast<std::uint32_t>(job.batch.macroblocks_per_picture()) - packed.intra4x4_mbs -
                     packed.intra8x8_mbs - packed.intra16x16_mbs - packed.pcm_mbs;
  packed.failure = broken != 0 ? 2 : end > job.capacity ? 1 : 0;
  job.pictures[picture] = packed;
  if (packed.failure == 0) return;
  for (int slice = 0; slice < job.batch.slices; ++slice) job.slice(picture, slice).lost = 1;
}

// All threads of the block must call this.
template <int kThreads>
__device__ void find_nal_unit_offsets(const PackJob& job) {
  __shared__ WarpTotals<std::uint64_t, kThreads / 32> s_totals;
  const int slices = job.batch.pictures * job.batch.slices, thread = static_cast<int>(threadIdx.x);
  std::uint64_t stream_bytes = 0;
  for (int chunk = 0; chunk < slices; chunk += kThreads) {
    const int slice = chunk + thread;
    std::uint64_t all = 0;
    const std::uint64_t bytes = slice < slices ? job.scratch.slices[slice].nal_bytes() : 0;
    const std::uint64_t before = scan_threads(bytes, std::uint64_t{0}, all, s_totals, Plus());
    if (slice < slices) job.scratch.slices[slice].offset = stream_bytes + before;
    stream_bytes += all;
    __syncthreads();
  }
  for (int picture = thread; picture < job.batch.pictures; picture += kThreads) report_picture(job, picture);
}

}  // namespace cu264::entropy
