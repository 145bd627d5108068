// Codes and reconstructs 8x8 luma blocks on a warp.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/luma_decision.h"
#include "core/quant8x8.h"
#include "encoder/cuda/search/intra8x8_space.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block8x8.cuh"
#include "encoder/cuda/search/warp_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// A block of the macroblock, and what its prediction needs besides Intra8x8Space::values.
struct Block8x8 {
  int block;  // luma8x8BlkIdx
  int x;      // of its first sample
  int y;
  int grid;  // index of its first 4x4 block in a BlockGrid
  core::Intra4x4Neighbours available;
  int dc;
  int predicted_mode;

  __device__ int slot() const { return core::kSlotLuma + 4 * block; }
  // Index of 4x4 block i in a BlockGrid.
  __device__ int grid_of(int i) const { return grid + (i >> 1) * BlockGrid<4>::kPitch + (i & 1); }
};

// A lane's two samples of a block, as it is coded and reconstructed, and the counts of its interleaved
// blocks, one byte each.
struct Coded8x8 {
  int first;
  int second;
  std::uint32_t counts;
};

// A lane's two samples of a block's source, and of a prediction.
struct Samples8x8 {
  int source[2];
  int predicted[2];

  // The squared error of the block, the same in all lanes.
  __device__ int squared_error(const Coded8x8& coded) const {
    const int first = source[0] - coded.first, second = source[1] - coded.second;
    return warp_sum(first * first + second * second);
  }
};

template <bool kRd>
struct Coder8x8 {
  WarpState<kRd>& s;
  Intra8x8Space& space;
  LaneIn8x8 lane;
  LaneQuantiser8x8 quantiser;

  __device__ Coder8x8(WarpState<kRd>& state, Intra8x8Space& work, const Tables8x8& tables, int qp,
                      int lane_number, core::DeadZone dead_zone = core::kDeadZoneLuma8x8)
      : s(state), space(work), lane(lane_number), quantiser(tables, qp, dead_zone, lane) {}

  __device__ void load_source(const Block8x8& b, Samples8x8& samples) const {
    samples.source[0] = s.luma[b.y + lane.pair][b.x + lane.line];
    samples.source[1] = s.luma[b.y + 7 - lane.pair][b.x + lane.line];
  }
  __device__ void load_prediction(const Block8x8& b, int mode, Samples8x8& samples) const {
    const std::uint8_t* const column = space.predictions[column_of_mode(mode)] + lane.line;
    const bool flat = mode == core::kIntra4x4Dc;
    samples.predicted[0] = flat ? b.dc : column[8 * lane.pair];
    samples.predicted[1] = flat ? b.dc : column[8 * (7 - lane.pair)];
  }
  // The lane's coefficients.
  __device__ void transform(const Samples8x8& samples, int& even, int& odd) {
    even = samples.source[0] - samples.predicted[0];
    odd = samples.source[1] - samples.predicted[1];
    forward_transform8x8(space.transposed, lane, even, odd);
  }
  // The block's coefficients in level units, in the order of the interleaved blocks. They stay until the next
  // transform.
  __device__ const std::int32_t* scaled_coefficients(const Samples8x8& samples) {
    int even, odd;
    transform(samples, even, odd);
    std::int32_t* const scaled = space.transposed.words;
    __syncwarp();
    scaled[quantiser.even.place] = quantiser.even.scaled(even);
    scaled[quantiser.odd.place] = quantiser.odd.scaled(odd);
    __syncwarp();
    return scaled;
  }
  // Codes the block with levels of the dead zone, which it leaves at `levels` in the order of the interleaved
  // blocks.
  __device__ Coded8x8 code(const Samples8x8& samples, std::int16_t* levels) {
    int even, odd;
    transform(samples, even, odd);
    even = quantiser.level(quantiser.even, even);
    odd = quantiser.level(quantiser.odd, odd);
    levels[quantiser.even.place] = static_cast<std::int16_t>(even);
    levels[quantiser.odd.place] = static_cast<std::int16_t>(odd);
    const auto counted = [](int level, int place) { return level != 0 ? 1u << ((place & 48) >> 1) : 0u; };
    const std::uint32_t counts =
        warp_sum(counted(even, quantiser.even.place) + counted(odd, quantiser.odd.place));
    return reconstruct(samples, even, odd, counts);
  }
  __device__ Coded8x8 reconstruct(const Samples8x8& samples, int even, int odd, std::uint32_t counts) {
    Coded8x8 coded{samples.predicted[0], samples.predicted[1], counts};
    if (counts == 0) return coded;
    even = quantiser.dequantised(quantiser.even, even);
    odd = quantiser.dequantised(quantiser.odd, odd);
    inverse_transform8x8(space.transposed, lane, even, odd);
    coded.first = core::clip_sample(coded.first + even, 8);
    coded.second = core::clip_sample(coded.second + odd, 8);
    return coded;
  }
  // The counts in the warp's state.
  __device__ std::uint32_t stored_counts(const Block8x8& b) const {
    const std::uint8_t* const counts = s.counts + b.slot();
    return uniform(pack4(counts[0], counts[1], counts[2], counts[3]));
  }
  // Reconstructs from the levels and counts in the warp's state.
  __device__ Coded8x8 reconstruct_stored(const Block8x8& b, const Samples8x8& samples) {
    const std::int16_t* const levels = s.levels[b.slot()];
    return reconstruct(samples, levels[quantiser.even.place], levels[quantiser.odd.place], stored_counts(b));
  }
  __device__ void store_samples(const Block8x8& b, const Coded8x8& coded) {
    std::uint8_t* const column = s.canvas.at(b.x + lane.line, b.y);
    column[lane.pair * Canvas::kPitch] = static_cast<std::uint8_t>(coded.first);
    column[(7 - lane.pair) * Canvas::kPitch] = static_cast<std::uint8_t>(coded.second);
  }
  // Sets the count of interleaved block i. One lane calls this.
  __device__ void set_count(const Block8x8& b, int i, int count) {
    s.counts[b.slot() + i] = static_cast<std::uint8_t>(count);
    s.luma_counts.cells[b.grid_of(i)] = static_cast<std::int8_t>(count);
  }
  __device__ void store_counts(const LaneIndices& indices, const Block8x8& b, const Coded8x8& coded) {
    if (indices.lane >= 4) return;
    set_count(b, indices.lane, static_cast<int>(coded.counts >> (8 * indices.lane)) & 255);
  }
  // Stores the samples and the counts of a coded block.
  __device__ void store(const LaneIndices& indices, const Block8x8& b, const Coded8x8& coded) {
    store_samples(b, coded);
    store_counts(indices, b, coded);
  }
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
