// A group's keystream in device memory, where its bits will be (entropy/cavlc/group_bits.h): the AES block of
// each macroblock's modes, then those of their levels, macroblock after macroblock.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "protect/key_layout.h"

namespace cu264::encoder::cuda {

static_assert(4 * (1 + protect::kMostKeyBlocks) <= entropy::kMacroblockWords);

// Where the levels of the lane's macroblock have their keystream.
struct MacroblockKeystream {
  protect::KeyLayout layout;
  int first, blocks;  // in AES blocks from the begin of the group's keystream on

  // All lanes. `levels`: whether they are encrypted.
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
