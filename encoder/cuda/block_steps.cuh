// The order in which a warp takes the sixteen luma blocks of a macroblock, two at a time where it can.
#pragma once

#include <cstdint>

namespace cu264::encoder::cuda {

// Blocks that may be coded together, a hexadecimal digit a step: each needs only blocks of earlier steps. The
// lower half of the warp takes the first, the upper the second; where the digits agree both do the same
// block.
inline constexpr int kIntra4x4Steps = 10;
inline constexpr std::uint64_t kFirstOfStep = 0xfeba763210, kSecondOfStep = 0xfedc985410;

__device__ inline int block_of_step(std::uint64_t blocks, int step) {
  return static_cast<int>(blocks >> (4 * step)) & 15;
}

}  // namespace cu264::encoder::cuda
