// The layout of a group's keystream in device memory, where its bits will be (entropy/cavlc/group_bits.h):
// first the AES block for the modes of each macroblock, then the AES blocks for the levels, macroblock by
// macroblock.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "protect/key_layout.h"

namespace cu264::encoder::cuda {

static_assert(4 * (1 + protect::kMaxKeyBlocks) <= entropy::kMacroblockWords);

// Where the keystream for the levels of the lane's macroblock lies.
struct MacroblockKeystream {
  protect::KeyLayout layout;
  int first, blocks;  // in AES blocks, from the beginning of the group's keystream

  // All lanes must call this. `levels`: whether levels are encrypted.
  __device__ __forceinline__ MacroblockKeystream(const core::BatchView& batch,
                                                 const entropy::MacroblockLane& mb, bool levels, int lane) {
    if (levels && mb.exists) {
      const entropy::Counts counts = mb.counts(batch);
      layout.nonzero = mb.nonzero();
      layout.from4 = layout.nonzero & entropy::slots_from(counts, 4);
      layout.from7 = layout.nonzero & entropy::slots_from(counts, 7);
    }
    blocks = layout.aes_blocks();
    const int end = scan_lanes(blocks, Plus());
    first = end - blocks + __popc(__ballot_sync(kAllLanes, mb.exists));
  }
};

}  // namespace cu264::encoder::cuda
