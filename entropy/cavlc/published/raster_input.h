// The input of the published coders: coefficients in raster order, as section 4 of the CAVLCU paper lays them
// out, with a prediction mode and a slice for each macroblock.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "core/device_batch.h"
#include "core/hd.h"

namespace cu264::entropy {

// A macroblock's blocks in the input. The 16 luma blocks come first, in raster order; the paper's input ends
// with them. After them come eight chroma AC blocks, luma DC and two chroma DC blocks.
inline constexpr int kLumaPositions = 16;
inline constexpr int kOtherPositions = core::kBlocksPerMacroblock - kLumaPositions;

CU264_HD int slot_of_position(int position) {
  if (position < kLumaPositions) return core::kSlotLuma + core::luma_block_index(position & 3, position >> 2);
  if (position < kLumaPositions + 8) return core::kSlotChromaAc + position - kLumaPositions;
  return position == kLumaPositions + 8 ? core::kSlotLumaDc
                                        : core::kSlotChromaDc + position - kLumaPositions - 9;
}

struct RasterInput {
  int pictures = 0, mb_width = 0, mb_height = 0;
  // [picture][mb][27][16]. The blocks are in the order above and the coefficients in raster order. AC blocks
  // hold the DC level, which is not theirs to code, at its place; level k of a chroma DC block has the place
  // of level k of the zigzag scan.
  std::int16_t* coeffs = nullptr;
  std::uint8_t* pred_modes = nullptr;  // [picture][mb] MacroblockKind
  std::uint16_t* slices = nullptr;     // [picture][mb]
  // [picture][mb]: bit s says that slot s is in the bitstream. The paper's input does not have it, because
  // the paper codes all blocks.
  std::uint32_t* coded = nullptr;

  CU264_HD_MEMBER int macroblocks_per_picture() const { return mb_width * mb_height; }
  CU264_HD_MEMBER std::size_t macroblocks() const {
    return static_cast<std::size_t>(pictures) * macroblocks_per_picture();
  }
};

std::size_t raster_input_bytes(int pictures, int mb_width, int mb_height);

// Fills the input from a batch, whose levels are in coding order. `memory` has raster_input_bytes() and is
// aligned to 256. Asynchronous on `stream`; throws cu264::Error if the launch is refused.
RasterInput launch_raster_input(const core::BatchView& batch, void* memory, cudaStream_t stream);

}  // namespace cu264::entropy
