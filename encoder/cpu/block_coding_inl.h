// Transform, quantisation and reconstruction of one 4x4 block.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/block.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/quant.h"
#include "core/rdoq.h"
#include "core/transform.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/presets.h"

namespace cu264::encoder::CU264_ISA {

// The limits of the dead zone of a plane's blocks.
struct DeadZoneLimits {
  alignas(64) std::int32_t first_level[16];     // of 4x4 blocks, in raster order
  alignas(64) std::int32_t first_dc_level[16];  // the same at every position
};

static inline DeadZoneLimits make_dead_zone_limits(core::DeadZone zone, const core::Quantiser& q,
                                                   int dc_extra_shift) {
  DeadZoneLimits limits;
  for (int k = 0; k < 16; ++k) {
    limits.first_level[k] = core::first_level_at(zone, k, q.shift);
    limits.first_dc_level[k] = core::first_level_at(zone, 0, q.shift + dc_extra_shift);
  }
  return limits;
}

// How levels are chosen: with a dead zone, or by RDOQ, which counts bits in the block's context.
struct QuantisationMethod {
  bool rdoq = false;
  const std::int32_t* first_level = nullptr;  // DeadZoneLimits, by position
};

// Scaled coefficients (core/quant.h) in coding order to 16 signed levels. Returns total_coeff.
__attribute__((always_inline)) static inline int choose_levels(
    const SearchRate& rate, const std::int32_t* scaled, std::uint32_t negative, core::BlockCategory category,
    int shift, QuantisationMethod method, int context, std::int16_t* levels) {
  const int count = core::max_num_coeff(category);
  std::memset(levels, 0, 16 * sizeof *levels);
  if (method.rdoq) {
    core::rdoq_block(rate, scaled, negative, category, shift, context, levels);
  } else {
    for (int k = 0; k < count; ++k) {
      const int level = core::quantise_with_dead_zone(scaled[k], shift, method.first_level[k]);
      levels[k] = static_cast<std::int16_t>((negative >> k) & 1 ? -level : level);
    }
  }
  int total_coeff = 0;
  for (int k = 0; k < count; ++k) total_coeff += levels[k] != 0;
  return total_coeff;
}

// With a dead zone, the sixteen positions of a 4x4 block at once, in vectors.
__attribute__((always_inline)) static inline int quantise_by_dead_zone(const std::int32_t (&coefficients)[16],
                                                                       core::BlockCategory category,
                                                                       const core::Quantiser& q,
                                                                       const std::int32_t* first_level,
                                                                       std::int16_t* levels) {
  const int first = 16 - core::max_num_coeff(category);
  alignas(32) std::int16_t in_raster[16];
  for (int i = 0; i < 16; ++i) {
    const int scaled = core::absolute(coefficients[i]) * q.multiplier[core::position_class(i)];
    const int level = core::quantise_with_dead_zone(scaled, q.shift, first_level[i]);
    in_raster[i] = static_cast<std::int16_t>(coefficients[i] < 0 ? -level : level);
  }
  if (first == 1) in_raster[0] = 0;  // and the last level takes this zero
  Lanes order = {};
  for (int k = first; k < 16; ++k) order[k - first] = static_cast<std::int16_t>(core::zigzag_to_raster(k));
  Lanes lanes;
  std::memcpy(&lanes, in_raster, sizeof lanes);
  permute(order, lanes);
  std::memcpy(levels, &lanes, sizeof lanes);
  int total_coeff = 0;
  for (int k = 0; k < 16; ++k) total_coeff += levels[k] != 0;
  return total_coeff;
}

// Coefficients of a 4x4 block in raster order to levels in coding order: all of them, or the AC ones alone.
// Returns total_coeff.
__attribute__((always_inline)) static inline int quantise_block(
    const SearchRate& rate, const std::int32_t (&coefficients)[16], core::BlockCategory category,
    const core::Quantiser& q, QuantisationMethod method, int context, std::int16_t* levels) {
  if (!method.rdoq) return quantise_by_dead_zone(coefficients, category, q, method.first_level, levels);
  alignas(64) std::int32_t scaled[16];
  for (int i = 0; i < 16; ++i) {
    scaled[i] = core::absolute(coefficients[i]) * q.multiplier[core::position_class(i)];
  }
  const int count = core::max_num_coeff(category), first = 16 - count;
  std::int32_t in_order[16];
  std::uint32_t negative = 0;
  for (int k = 0; k < count; ++k) {
    const int raster = core::zigzag_to_raster(k + first);
    in_order[k] = scaled[raster];
    negative |= static_cast<std::uint32_t>(coefficients[raster] < 0) << k;
  }
  return choose_levels(rate, in_order, negative, category, q.shift, method, context, levels);
}

// Levels in coding order from zigzag position `first` on, to coefficients in raster order; position 0 is left
// alone if first is 1.
static inline void dequantise_block(const std::int16_t* levels, int first, const core::Quantiser& q,
                                    std::int32_t (&coefficients)[16]) {
  for (int k = first; k < 16; ++k) {
    const int raster = core::zigzag_to_raster(k);
    coefficients[raster] = levels[k - first] * q.dequant[core::position_class(raster)];
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

// The same for a block without coefficients: it equals its prediction.
static inline int copy_block(const std::uint8_t* prediction, int prediction_pitch, std::uint8_t* out,
                             int out_pitch, const std::uint8_t* source, int source_pitch) {
  int squared_error = 0;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
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
