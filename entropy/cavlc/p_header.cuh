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
#include "entropy/cavlc/word_sink.cuh"

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

// The bits of a lane's macroblock in front of its residual. P_Skip has none, unless it ends its slice.
struct PHeader {
  // mb_skip_run has 35 bits at most, mb_type 5, sub_mb_type 4, eight components of mvd_l0 33 each,
  // coded_block_pattern 11, transform_size_8x8_flag 1 and mb_qp_delta 11. I macroblocks have fewer.
  static constexpr int kWords = 11;
  static_assert(35 + 5 + 4 + 8 * 33 + 11 + 1 + 11 <= 32 * kWords);

  std::uint32_t words[kWords];  // the last of those in use is left-aligned
  int length = 0;               // in bits
  int run_length = 0;           // those of mb_skip_run

  // All lanes of a warp, each of which has a macroblock of the group, must call this.
  __device__ __forceinline__ void make(const core::BatchView& batch, const Group& group,
                                       const MacroblockLane& mb, int lane) {
    bool written = mb.exists;
    std::uint32_t run = 0;
    if (!batch.params[group.picture].key) {
      const bool skipped = mb.exists && mb.record.kind == core::MacroblockKind::p_skip;
      const unsigned coded = __ballot_sync(kAllLanes, mb.exists && !skipped),
                     before = coded & ((1u << lane) - 1);
      const bool ends_slice = group.end == group.slice_end;
      const int in_front = coded != 0 || ends_slice ? skipped_before(batch, group, lane) : 0;
      // A run at the end of the slice counts its last macroblock too.
      written = mb.exists && (!skipped || mb.index + 1 == group.slice_end);
      run = static_cast<std::uint32_t>(
          (before != 0 ? lane - 1 - core::highest_bit(before) : lane + in_front) + (skipped ? 1 : 0));
      if (written) run_length = core::ue_length(run);
    }
    if (written) length = write(batch, group, lane, run, words);
  }

  // Passes the words, left-aligned, to put(position, word, count).
  template <class Put>
  __device__ __forceinline__ void each_word(const Put& put) const {
#pragma unroll 1
    for (int at = 0; at < length; at += 32) put(at, words[at / 32], min(length - at, 32));
  }

 private:
  // Puts the header of a lane's macroblock, after `run` as mb_skip_run in a P picture. Not inlined, because
  // it is long; the words lie in local memory then. Returns the number of bits.
  __device__ __noinline__ static int write(const core::BatchView& batch, const Group& group, int lane,
                                           std::uint32_t run, std::uint32_t* words) {
    WordSink sink(ArrayStore{words});
    const MacroblockLane mb(batch, group, lane);
    const core::MacroblockRecord& record = mb.record;
    if (batch.params[group.picture].key) {
      mb.put_header<false>(sink, mb.neighbours(batch));
      return sink.finish();
    }
    core::put_ue(sink, run);
    if (core::is_inter(record.kind)) {
      if (record.kind != core::MacroblockKind::p_skip) core::put_inter_header(sink, record, mb.motion(batch));
    } else {
      core::put_ue(sink, static_cast<std::uint32_t>(core::p_mb_type(record)));
      mb.put_header_rest<false>(sink, mb.neighbours(batch));
    }
    return sink.finish();
  }
};

}  // namespace cu264::entropy
