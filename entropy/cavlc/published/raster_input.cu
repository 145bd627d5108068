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

// 16 levels or coefficients, which lie in two vectors in memory.
struct alignas(16) BlockLevels {
  uint4 halves[2];

  __device__ __forceinline__ int operator[](int k) const {
    const uint4& half = halves[k / 8];
    const std::uint32_t words[4] = {half.x, half.y, half.z, half.w};
    return static_cast<std::int16_t>(words[k % 8 / 2] >> (16 * (k % 2)));
  }
};
static_assert(sizeof(BlockLevels) == core::kLevelsPerBlock * sizeof(std::int16_t));

// The level of a DC block, or 0 if the block is not written.
__device__ __forceinline__ int dc_level(const MacroblockRecord& mb, const BlockLevels* d_levels, int slot,
                                        int k) {
  const bool written = (core::coded_slots(mb) & mb.nonzero_blocks & (1u << slot)) != 0;
  return written ? reinterpret_cast<const std::int16_t*>(d_levels + slot)[k] : 0;
}

// The DC level at the place of an AC block's first coefficient.
__device__ __forceinline__ int dc_level_of(const MacroblockRecord& mb, const BlockLevels* d_levels,
                                           int position) {
  if (position >= kLumaPositions) {
    return dc_level(mb, d_levels, core::kSlotChromaDc + (position - kLumaPositions) / 4, position & 3);
  }
  int k = 0;
#pragma unroll
  for (int dc = 1; dc < kLumaPositions; ++dc) {
    if (core::zigzag_to_raster(dc) == position) k = dc;
  }
  return dc_level(mb, d_levels, core::kSlotLumaDc, k);
}

__global__ void __launch_bounds__(kThreads)
    make_raster_input(const __grid_constant__ BatchView batch, const __grid_constant__ RasterInput input) {
  const std::size_t block = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (block >= input.macroblocks() * kBlocksPerMacroblock) return;
  const std::size_t mb_index = block / kBlocksPerMacroblock;
  const int position = static_cast<int>(block % kBlocksPerMacroblock), slot = slot_of_position(position);
  const MacroblockRecord& mb = batch.macroblocks[mb_index];
  const std::uint32_t coded_slots = core::coded_slots(mb);
  const auto* const d_levels =
      reinterpret_cast<const BlockLevels*>(batch.levels + mb_index * core::kLevelsPerMacroblock);

  BlockLevels levels = {};
  if ((coded_slots & mb.nonzero_blocks & (1u << slot)) != 0) levels = d_levels[slot];
  const int count = core::slot_max_num_coeff(mb, slot);
  const bool ac_only = count == 15;
  const int dc = ac_only ? dc_level_of(mb, d_levels, position) : 0;
  std::uint32_t words[core::kLevelsPerBlock / 2] = {};
#pragma unroll
  for (int k = 0; k < core::kLevelsPerBlock; ++k) {
    const int whole = k < count ? levels[k] : 0,
              level = ac_only ? (k == 0 ? dc : levels[max(k - 1, 0)]) : whole;
    const int place = core::zigzag_to_raster(k);
    words[place / 2] |= static_cast<std::uint32_t>(static_cast<std::uint16_t>(level)) << (16 * (place % 2));
  }
  auto* const d_coeffs = reinterpret_cast<BlockLevels*>(input.coeffs) + block;
  d_coeffs->halves[0] = make_uint4(words[0], words[1], words[2], words[3]);
  d_coeffs->halves[1] = make_uint4(words[4], words[5], words[6], words[7]);

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
