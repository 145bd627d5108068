// Transform, quantisation and reconstruction of one 4x4 block.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/bit_ops.h"
#include "core/block.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/level_masks.h"
#include "core/mode_trials.h"
#include "core/quant.h"
#include "core/rdoq.h"
#include "core/transform.h"
#include "core/weighted_quant.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/presets.h"

namespace cu264::encoder::CU264_ISA {

// A plane's quantiser, with what depends on the position laid out for vectors, in raster order.
struct PlaneQuantiser : core::Quantiser {
  alignas(64) std::int32_t multiplier_at[16];
  alignas(64) std::int32_t dequant_at[16];
  alignas(64) std::int32_t first_level_at[16];
  core::DeadZone dead_zone;
  core::WeightedInverse inverse;  // {0, 0} with flat lists
  std::int64_t rdoq_lambda = core::kRdoqLambda;
};

// `weights`: the plane's scaling list in raster order; null: it is flat.
static inline void set_quantiser(PlaneQuantiser& plane, int qp, core::DeadZone zone,
                                 const std::uint8_t* weights) {
  static_cast<core::Quantiser&>(plane) = core::make_quantiser(qp);
  plane.dead_zone = zone;
  plane.inverse = {0, 0};
  for (int i = 0; i < 16; ++i) {
    plane.multiplier_at[i] = plane.multiplier[core::position_class(i)];
    plane.dequant_at[i] = plane.dequant[core::position_class(i)];
    plane.first_level_at[i] = core::first_level_at(zone, i, plane.shift);
  }
  if (weights == nullptr) return;
  plane.inverse = core::weighted_inverse(qp);
  for (int i = 0; i < 16; ++i) {
    plane.multiplier_at[i] = core::weighted_multiplier(plane.multiplier_at[i], weights[i]);
    plane.dequant_at[i] = core::weighted_dequant(qp, i, weights[i]);
  }
  plane.dc_dequant = core::weighted_dc_dequant(qp, weights[0]);
}

// Brings levels from raster order into coding order. If `first` is 1, position 0 is left out, and the level
// there moves to the end.
static inline void to_coding_order(int first, Lanes& levels) {
  Lanes order = {};
  for (int k = 0; k < 16; ++k) {
    order[(k - first) & 15] = static_cast<std::int16_t>(core::zigzag_to_raster(k));
  }
  permute(order, levels);
}

// The inverse of to_coding_order.
static inline void to_raster_order(int first, Lanes& levels) {
  Lanes order = {};
  for (int k = 0; k < 16; ++k) {
    order[core::zigzag_to_raster(k)] = static_cast<std::int16_t>((k - first) & 15);
  }
  permute(order, levels);
}

// Levels with the plane's dead zone, for all positions of a block at once.
__attribute__((always_inline)) static inline int quantise_by_dead_zone(const std::int32_t (&coefficients)[16],
                                                                       core::BlockCategory category,
                                                                       const PlaneQuantiser& q,
                                                                       std::int16_t* levels) {
  const int count = core::max_num_coeff(category), first = 16 - count;
  alignas(32) std::int16_t in_raster[16];
  for (int i = 0; i < 16; ++i) {
    const int scaled = core::absolute(coefficients[i]) * q.multiplier_at[i];
    const int level = core::quantise_with_dead_zone(scaled, q.shift, q.rounding, q.first_level_at[i]);
    in_raster[i] = static_cast<std::int16_t>(coefficients[i] < 0 ? -level : level);
  }
  if (first == 1) in_raster[0] = 0;
  Lanes lanes;
  std::memcpy(&lanes, in_raster, sizeof lanes);
  to_coding_order(first, lanes);
  std::memcpy(levels, &lanes, sizeof lanes);
  return core::count_ones(core::level_masks(levels, count).nonzero);
}

// Coefficients of a 4x4 block in raster order to levels in coding order: all of them, or the AC ones alone.
// They are chosen by RDOQ, which counts bits in the block's context, or with the dead zone. Returns
// total_coeff.
__attribute__((always_inline)) static inline int quantise_block(const SearchRate& rate,
                                                                const std::int32_t (&coefficients)[16],
                                                                core::BlockCategory category,
                                                                const PlaneQuantiser& q, bool by_rdoq,
                                                                int context, std::int16_t* levels) {
  if (!by_rdoq) return quantise_by_dead_zone(coefficients, category, q, levels);
  alignas(64) std::int32_t scaled[16];
  for (int i = 0; i < 16; ++i) scaled[i] = core::absolute(coefficients[i]) * q.multiplier_at[i];
  const int count = core::max_num_coeff(category), first = 16 - count;
  std::int32_t in_order[16];
  std::uint32_t negative = 0;
  for (int k = 0; k < count; ++k) {
    const int raster = core::zigzag_to_raster(k + first);
    in_order[k] = scaled[raster];
    negative |= static_cast<std::uint32_t>(coefficients[raster] < 0) << k;
  }
  std::memset(levels, 0, 16 * sizeof *levels);
  core::rdoq_block(rate, in_order, negative, category, q.shift, context, levels, q.rdoq_lambda);
  return core::count_ones(core::level_masks(levels, count).nonzero);
}

// The same for DC coefficients after a further Hadamard transform, in coding order. It needs room for sixteen
// levels, whatever the count.
static inline int quantise_dc(const SearchRate& rate, const std::int32_t* coefficients,
                              core::BlockCategory category, const PlaneQuantiser& q, int extra_shift,
                              bool by_rdoq, int context, std::int16_t* levels) {
  const int count = core::max_num_coeff(category), shift = q.shift + extra_shift - core::kDcBitsCut;
  std::memset(levels, 0, 16 * sizeof *levels);
  if (by_rdoq) {
    std::int32_t scaled[16];
    std::uint32_t negative = 0;
    for (int k = 0; k < count; ++k) {
      scaled[k] = core::scaled_dc(core::absolute(coefficients[k]), q.multiplier_at[0]);
      negative |= static_cast<std::uint32_t>(coefficients[k] < 0) << k;
    }
    core::rdoq_block(rate, scaled, negative, category, shift, context, levels, q.rdoq_lambda);
  } else {
    const int rounding = core::level_rounding(shift);
    const int first_level = core::first_level_at(q.dead_zone, 0, shift);
    for (int k = 0; k < count; ++k) {
      const int scaled = core::scaled_dc(core::absolute(coefficients[k]), q.multiplier_at[0]);
      const int level = core::quantise_with_dead_zone(scaled, shift, rounding, first_level);
      levels[k] = static_cast<std::int16_t>(coefficients[k] < 0 ? -level : level);
    }
  }
  return core::count_ones(core::level_masks(levels, count).nonzero);
}

// Tells whether the magnitudes of the AC levels of these blocks add up to more than `too_few`.
static inline bool ac_is_worth_coding(const std::int16_t (*levels)[16], const std::uint8_t* total_coeff,
                                      int blocks, int too_few) {
  int sum = 0;
  for (int block = 0; block < blocks; ++block) sum += total_coeff[block];
  if (sum == 0 || sum > too_few) return sum > 0;  // magnitudes are 1 at least
  sum = 0;
  for (int block = 0; block < blocks; ++block) {
    if (total_coeff[block] == 0) continue;
    for (int k = 0; k < 15; ++k) sum += core::absolute<int>(levels[block][k]);
  }
  return core::ac_is_worth_coding(sum, too_few);
}

// Levels in coding order from zigzag position `first` on, to coefficients in raster order. If `first` is 1,
// position 0 takes the sixteenth level, which must be zero.
static inline void dequantise_block(const std::int16_t* levels, int first, const PlaneQuantiser& q,
                                    std::int32_t (&coefficients)[16]) {
  Lanes lanes;
  std::memcpy(&lanes, levels, sizeof lanes);
  to_raster_order(first, lanes);
  if (q.inverse.shift == 0) {
    for (int i = 0; i < 16; ++i) coefficients[i] = lanes[i] * q.dequant_at[i];
  } else {
    for (int i = 0; i < 16; ++i)
      coefficients[i] = core::dequantise_weighted(lanes[i], q.dequant_at[i], q.inverse);
  }
}

// Adds the inverse transform of `coefficients` to the prediction; returns the squared error against the
// source.
static inline int reconstruct_block(std::int32_t (&coefficients)[16], const std::uint8_t* prediction,
                                    int prediction_pitch, std::uint8_t* out, int out_pitch,
                                    const std::uint8_t* source, int source_pitch) {
  core::inverse_transform4x4(coefficients);
  int squared_error = 0;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      const int sample = core::clip_sample(prediction[y * prediction_pitch + x] + coefficients[4 * y + x], 8);
      const int error = source[y * source_pitch + x] - sample;
      out[y * out_pitch + x] = static_cast<std::uint8_t>(sample);
      squared_error += error * error;
    }
  }
  return squared_error;
}

// The same for a block without coefficients, which equals its prediction; kSize: 4, or 8 for an 8x8 block.
template <int kSize = 4>
static inline int copy_block(const std::uint8_t* prediction, int prediction_pitch, std::uint8_t* out,
                             int out_pitch, const std::uint8_t* source, int source_pitch) {
  int squared_error = 0;
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      const int sample = prediction[y * prediction_pitch + x];
      const int error = source[y * source_pitch + x] - sample;
      out[y * out_pitch + x] = static_cast<std::uint8_t>(sample);
      squared_error += error * error;
    }
  }
  return squared_error;
}

static inline void forward_block(const std::uint8_t* source, int source_pitch, const std::uint8_t* prediction,
                                 int prediction_pitch, std::int32_t (&coefficients)[16]) {
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      coefficients[4 * y + x] = source[y * source_pitch + x] - prediction[y * prediction_pitch + x];
    }
  }
  core::forward_transform4x4(coefficients);
}

}  // namespace cu264::encoder::CU264_ISA
