// The quantisers of a lane by the stream's scaling lists. Streams whose lists are not flat have kernels of
// their own (reconstruct_weighted.cu), so the others do not carry that code.
#pragma once

#include <cstdint>

#include "core/quant.h"
#include "core/weighted_quant.h"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_block8x8.cuh"

namespace cu264::encoder::cuda {

// The lists are flat.
struct FlatLists {
  static constexpr bool kFlat = true;
  using Luma = LaneQuantiser;
  using Chroma = LaneQuantiser;
  using Held = FlatLists;  // by LaneConstants

  __device__ NoWeights luma(int) const { return {}; }
  __device__ NoWeights chroma(int) const { return {}; }
  __device__ void weigh(LaneQuantiser8x8&, int, const LaneIn8x8&) const {}
};

// A plane's list in raster order, and the plane's QP.
struct PlaneWeights {
  const std::uint8_t* list;
  int qp;
};

// LaneQuantiser with the weights of a plane's list.
struct WeightedQuantiser : LaneQuantiser {
  core::WeightedInverse inverse;
  core::Quantiser dc;  // of DC coefficients after a further Hadamard transform

  __device__ WeightedQuantiser(const core::Quantiser& flat, int position, core::DeadZone dead_zone,
                               PlaneWeights weights)
      : LaneQuantiser(flat, position, dead_zone), inverse(core::weighted_inverse(weights.qp)), dc(flat) {
    const int weight = weights.list[position], dc_weight = weights.list[0];
    multiplier = core::weighted_multiplier(multiplier, weight);
    dequant = core::weighted_dequant(weights.qp, position, weight);
    dc.multiplier[0] = core::weighted_multiplier(flat.multiplier[0], dc_weight);
    dc.dc_dequant = core::weighted_dc_dequant(weights.qp, dc_weight);
  }
};

// Those of Cb and Cr, which have lists of their own.
struct ChromaWeights {
  PlaneWeights cb;
  PlaneWeights cr;
};
struct WeightedChroma {
  WeightedQuantiser cb;
  WeightedQuantiser cr;

  __device__ WeightedChroma(const core::Quantiser& flat, int position, core::DeadZone dead_zone,
                            ChromaWeights weights)
      : cb(flat, position, dead_zone, weights.cb), cr(flat, position, dead_zone, weights.cr) {}
};
__device__ inline WeightedQuantiser of_component(const WeightedChroma& q, int c) {
  return c == 0 ? q.cb : q.cr;
}

__device__ inline int dequantised(const WeightedQuantiser& q, int level) {
  return core::dequantise_weighted(level, q.dequant, q.inverse);
}
__device__ inline int scaled_dc(const WeightedQuantiser& q, const core::Quantiser&, int coefficient) {
  const int scaled = core::scaled_dc(core::absolute(coefficient), q.dc.multiplier[0]);
  return coefficient < 0 ? -scaled : scaled;
}
__device__ inline int dc_shift(const WeightedQuantiser& q, int extra_shift) {
  return q.shift + extra_shift - core::kDcBitsCut;
}
__device__ inline const core::Quantiser& dc_quantiser(const WeightedQuantiser& q, const core::Quantiser&) {
  return q.dc;
}
__device__ inline int signed_dc_level(const WeightedQuantiser& q, const core::Quantiser& flat,
                                      core::DeadZone dead_zone, int extra_shift, int coefficient) {
  const int shift = dc_shift(q, extra_shift);
  const int level =
      core::quantise_with_dead_zone(core::absolute(scaled_dc(q, flat, coefficient)), shift,
                                    core::level_rounding(shift), core::first_level_at(dead_zone, 0, shift));
  return coefficient < 0 ? -level : level;
}

// Lists that are not flat, in raster order (cu264/scaling_lists.h).
struct WeightedLists {
  static constexpr bool kFlat = false;
  using Luma = WeightedQuantiser;
  using Chroma = WeightedChroma;
  using Held = const WeightedLists&;
  std::uint8_t luma4x4[16];
  std::uint8_t cb4x4[16];
  std::uint8_t cr4x4[16];
  std::uint8_t luma8x8[64];

  // For macroblocks of a QP.
  __device__ PlaneWeights luma(int qp) const { return {luma4x4, qp}; }
  __device__ ChromaWeights chroma(int qp) const {
    return {{cb4x4, core::chroma_qp(qp)}, {cr4x4, core::chroma_qp(qp)}};
  }
  // Puts the weights into a quantiser for the flat list.
  __device__ void weigh(LaneQuantiser8x8& q, int qp, const LaneIn8x8& lane) const {
    q.shift = core::kWeightedShift8x8 + q.qp_per;
    q.rounding = core::level_rounding(q.shift);
    weigh(q.even, q.shift, qp, 8 * lane.line + lane.even);
    weigh(q.odd, q.shift, qp, 8 * lane.line + lane.odd);
  }

 private:
  __device__ void weigh(PositionQuantiser8x8& at, int shift, int qp, int position) const {
    const int weight = luma8x8[position];
    at.multiplier = core::weighted_multiplier8x8(at.multiplier, weight);
    at.level_scale = core::weighted_level_scale8x8(qp, position, weight);
    at.first_level = core::first_level_at8x8(core::kDeadZoneLuma8x8, position, shift);
  }
};

}  // namespace cu264::encoder::cuda
