#include "entropy/cavlc/published/raster_input.h"

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "core/mb_syntax.h"

namespace cu264::entropy {
namespace {

using core::BatchView;
using core::kBlocksPerMacroblock;
using core::kLevelsPerBlock;
using core::MacroblockRecord;

constexpr int kThreads = 128;

// The level of a DC block, or 0 if the block is not written.
__device__ int dc_level(const MacroblockRecord& mb, const std::int16_t* d_levels, int slot, int k) {
  const bool written = (core::coded_slots(mb) & mb.nonzero_blocks & (1u << slot)) != 0;
  return written ? d_levels[slot * kLevelsPerBlock + k] : 0;
}

__global__ void __launch_bounds__(kThreads)
    make_raster_input(const __grid_constant__ BatchView batch, const __grid_constant__ RasterInput input) {
  const std::size_t block = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (block >= input.macroblocks() * kBlocksPerMacroblock) return;
  const std::size_t mb_index = block / kBlocksPerMacroblock;
  const int position = static_cast<int>(block % kBlocksPerMacroblock), slot = slot_of_position(position);
  const MacroblockRecord& mb = batch.macroblocks[mb_index];
  const std::uint32_t coded_slots = core::coded_slots(mb);
  const std::int16_t* const d_levels = batch.levels + mb_index * core::kLevelsPerMacroblock;
  std::int16_t* const d_coeffs = input.coeffs + block * kLevelsPerBlock;

  const bool written = (coded_slots & mb.nonzero_blocks & (1u << slot)) != 0;
  const int count = core::slot_max_num_coeff(mb, slot), first = count == 15 ? 1 : 0;
  for (int k = 0; k < kLevelsPerBlock; ++k) {
    int level = 0;
    if (written && k >= first && k - first < count) level = d_levels[slot * kLevelsPerBlock + k - first];
    if (k == 0 && first == 1 && position >= kLumaPositions) {
      level = dc_level(mb, d_levels, core::kSlotChromaDc + (position - kLumaPositions) / 4, position & 3);
    }
    if (k == 0 && first == 1 && position < kLumaPositions) {
      for (int dc = 0; dc < kLumaPositions; ++dc) {
        if (core::zigzag_to_raster(dc) == position) level = dc_level(mb, d_levels, core::kSlotLumaDc, dc);
      }
    }
    d_coeffs[core::zigzag_to_raster(k)] = static_cast<std::int16_t>(level);
  }

  if (position != 0) return;
  const int row = static_cast<int>(mb_index % input.macroblocks_per_picture()) / batch.mb_width;
  input.pred_modes[mb_index] = static_cast<std::uint8_t>(mb.kind);
  input.slices[mb_index] = static_cast<std::uint16_t>(core::slice_of_row(row, batch.slices, batch.mb_height));
  input.coded[mb_index] = coded_slots;
}

RasterInput carve(Arena& arena, int pictures, int mb_width, int mb_height) {
  RasterInput input{pictures, mb_width, mb_height};
  input.coeffs = arena.take<std::int16_t>(input.macroblocks() * core::kLevelsPerMacroblock);
  input.pred_modes = arena.take<std::uint8_t>(input.macroblocks());
  input.slices = arena.take<std::uint16_t>(input.macroblocks());
  input.coded = arena.take<std::uint32_t>(input.macroblocks());
  return input;
}

}  // namespace

std::size_t raster_input_bytes(int pictures, int mb_width, int mb_height) {
  Arena arena(nullptr);
  carve(arena, pictures, mb_width, mb_height);
  return arena.bytes();
}

RasterInput launch_raster_input(const BatchView& batch, void* memory, cudaStream_t stream) {
  Arena arena(memory);
  const RasterInput input = carve(arena, batch.pictures, batch.mb_width, batch.mb_height);
  const std::size_t blocks = input.macroblocks() * kBlocksPerMacroblock;
  make_raster_input<<<static_cast<unsigned>((blocks + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      batch, input);
  check_launch("make_raster_input");
  return input;
}

}  // namespace cu264::entropy
