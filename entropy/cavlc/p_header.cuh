// What precedes the residual of a macroblock in a batch that has P pictures: mb_skip_run and the header
// (H.264 7.3.4). A run may have begun in groups before. What a lane needs of them are the kinds of their
// macroblocks, so that no group waits for another.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/bit_ops.h"
#include "core/bits.h"
#include "core/device_batch.h"
#include "core/p_syntax.h"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"

namespace cu264::entropy {

// The number of P_Skip macroblocks right in front of a group. All lanes of a warp must call this.
__device__ inline int skipped_before(const core::BatchView& batch, const Group& group, int lane) {
  const core::MacroblockRecord* const d_mbs =
      batch.macroblocks + static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture();
  // Whether the macroblock `distance` in front of the group ends the run: it is coded, or not in the slice.
  const auto ends_run = [&](int distance) {
    const int mb = group.first - distance;
    return mb < group.slice_first || d_mbs[mb].kind != core::MacroblockKind::p_skip;
  };
  const unsigned near = __ballot_sync(kAllLanes, ends_run(1 + lane));
  if (near != 0) return __ffs(static_cast<int>(near)) - 1;
  constexpr int kAtOnce = 8;  // loads of a lane that overlap
  for (int skipped = 32;; skipped += 32 * kAtOnce) {
    bool ends[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) ends[i] = ends_run(1 + skipped + 32 * i + lane);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const unsigned lanes = __ballot_sync(kAllLanes, ends[i]);
      if (lanes != 0) return skipped + 32 * i + __ffs(static_cast<int>(lanes)) - 1;
    }
  }
}

// Headers may have eleven words, too many to keep in registers while blocks are coded. So a lane keeps the
// length, and makes the header again to write it.
struct PHeader {
  int length = 0;         // 0: there is nothing to write
  int run_length = 0;     // of mb_skip_run
  std::uint32_t run = 0;  // mb_skip_run

  // All lanes of a warp, each of which has a macroblock of the group, must call this.
  __device__ __forceinline__ static PHeader of(const core::BatchView& batch, const Group& group,
                                               const MacroblockLane& mb, const Neighbours& neighbours,
                                               int lane) {
    PHeader header;
    bool written = mb.exists;
    if (!batch.params[group.picture].key) {
      const bool skipped = mb.exists && mb.record.kind == core::MacroblockKind::p_skip;
      const unsigned coded = __ballot_sync(kAllLanes, mb.exists && !skipped),
                     before = coded & ((1u << lane) - 1);
      const bool ends_slice = group.end == group.slice_end;
      const int in_front = coded != 0 || ends_slice ? skipped_before(batch, group, lane) : 0;
      // A run at the end of the slice counts its last macroblock too.
      written = mb.exists && (!skipped || mb.index + 1 == group.slice_end);
      header.run = static_cast<std::uint32_t>(
          (before != 0 ? lane - 1 - core::highest_bit(before) : lane + in_front) + (skipped ? 1 : 0));
      header.run_length = written ? core::ue_length(header.run) : 0;
    }
    if (written) {
      core::BitCounter counter;
      header.put(counter, batch, group, mb, neighbours);
      header.length = static_cast<int>(counter.bits);
    }
    return header;
  }

  template <class Sink>
  __device__ __forceinline__ void put(Sink& sink, const core::BatchView& batch, const Group& group,
                                      int lane) const {
    if (length == 0) return;
    const MacroblockLane mb(batch, group, lane);
    put(sink, batch, group, mb, mb.neighbours(batch));
  }

 private:
  template <class Sink>
  __device__ __forceinline__ void put(Sink& sink, const core::BatchView& batch, const Group& group,
                                      const MacroblockLane& mb, const Neighbours& neighbours) const {
    if (batch.params[group.picture].key) return mb.put_header<false>(sink, neighbours);
    core::put_ue(sink, run);
    if (mb.record.kind == core::MacroblockKind::p_skip) return;
    if (core::is_inter(mb.record.kind)) return core::put_inter_header(sink, mb.record, mb.motion(batch));
    core::put_ue(sink, static_cast<std::uint32_t>(core::p_mb_type(mb.record)));
    mb.put_header_rest<false>(sink, neighbours);
  }
};

}  // namespace cu264::entropy
