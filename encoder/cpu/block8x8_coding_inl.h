// Transform, quantisation and reconstruction of one 8x8 block, with a row or a column of it in each vector.
// Between the transforms a block is transposed: position (x, y) is at 8 * x + y.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/bit_ops.h"
#include "core/block.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/level_masks.h"
#include "core/quant8x8.h"
#include "core/rdoq.h"
#include "core/transform.h"
#include "core/weighted_quant.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/presets.h"

namespace cu264::encoder::CU264_ISA {

using Eight = std::int16_t __attribute__((vector_size(16)));
using EightBytes = std::uint8_t __attribute__((vector_size(8)));
using EightWide = std::int32_t __attribute__((vector_size(32)));

// The quantiser, with what depends on the position laid out for vectors, transposed.
struct Quantiser8x8At : core::Quantiser8x8 {
  std::int64_t rdoq_lambda = core::kRdoqLambda;
  alignas(64) std::int32_t multiplier_at[64];
  alignas(64) std::int32_t level_scale_at[64];
  alignas(64) std::int32_t first_level_at[64];
};

// `weights`: the scaling list in raster order; null: it is flat.
static inline void set_quantiser8x8(Quantiser8x8At& q, int qp, core::DeadZone zone,
                                    const std::uint8_t* weights) {
  static_cast<core::Quantiser8x8&>(q) = core::make_quantiser8x8(qp);
  if (weights != nullptr) {
    q.shift = core::kWeightedShift8x8 + q.qp_per;
    q.rounding = core::level_rounding(q.shift);
  }
  for (int i = 0; i < 64; ++i) {  // classes and frequencies are symmetric
    q.multiplier_at[i] = q.multiplier[core::position_class8x8(i)];
    q.level_scale_at[i] = q.level_scale[core::position_class8x8(i)];
    q.first_level_at[i] = core::first_level_at8x8(zone, i, q.shift);
  }
  if (weights == nullptr) return;
  for (int i = 0; i < 64; ++i) {
    const int weight = weights[8 * (i & 7) + (i >> 3)];
    q.multiplier_at[i] = core::weighted_multiplier8x8(q.multiplier_at[i], weight);
    q.level_scale_at[i] = core::weighted_level_scale8x8(qp, i, weight);
  }
}

// An 8x8 block's levels are coded in four blocks of sixteen (core::interleaved_block).
using InterleavedLevels = std::int16_t[4][16];

// Transposed positions in the order of InterleavedLevels.
struct InterleavedOrder {
  std::uint8_t at[64] = {};
};
static constexpr InterleavedOrder make_interleaved_order() {
  InterleavedOrder order;
  for (int k = 0; k < 64; ++k) {
    const int raster = core::zigzag8x8_to_raster(k);
    order.at[16 * core::interleaved_block(k) + core::interleaved_level(k)] =
        static_cast<std::uint8_t>(8 * (raster & 7) + (raster >> 3));
  }
  return order;
}
static constexpr InterleavedOrder kInterleavedOrder = make_interleaved_order();

// a0 b0 a1 b1 .. a7 b7
template <class Vector>
static inline void interleave(const Vector& a, const Vector& b, Vector& low, Vector& high) {
#if defined(__clang__)
  low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  constexpr Vector kLow = {0, 8, 1, 9, 2, 10, 3, 11}, kHigh = {4, 12, 5, 13, 6, 14, 7, 15};
  low = __builtin_shuffle(a, b, kLow);
  high = __builtin_shuffle(a, b, kHigh);
#endif
}

// Each round rotates the six bits of an element's index, row and column, by one.
template <class Vector>
static inline void transpose(Vector (&rows)[8]) {
  for (int round = 0; round < 3; ++round) {
    Vector next[8];
    for (int i = 0; i < 4; ++i) interleave(rows[i], rows[i + 4], next[2 * i], next[2 * i + 1]);
    for (int i = 0; i < 8; ++i) rows[i] = next[i];
  }
}

static inline void load_eight(const std::uint8_t* samples, Eight& row) {
  EightBytes bytes;
  std::memcpy(&bytes, samples, sizeof bytes);
  row = __builtin_convertvector(bytes, Eight);
}

// Coefficients of source - prediction, transposed. Each pitch is in samples.
static inline void forward_block8x8(const std::uint8_t* source, int source_pitch,
                                    const std::uint8_t* prediction, int prediction_pitch,
                                    std::int16_t (&coefficients)[64]) {
  Eight row[8];
  for (int y = 0; y < 8; ++y) {
    Eight predicted;
    load_eight(source + y * source_pitch, row[y]);
    load_eight(prediction + y * prediction_pitch, predicted);
    row[y] -= predicted;
  }
  core::forward8_1d(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]);
  transpose(row);
  core::forward8_1d(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]);
  std::memcpy(coefficients, row, sizeof coefficients);
}

// Whether a coefficient reaches its limit.
static inline bool any_reaches(const std::int16_t (&coefficients)[64], const std::int16_t (&limits)[64]) {
  Lanes any{};
  for (int i = 0; i < 64; i += 16) {
    Lanes coefficient, limit;
    std::memcpy(&coefficient, coefficients + i, sizeof coefficient);
    std::memcpy(&limit, limits + i, sizeof limit);
    any |= core::absolute(coefficient) >= limit;
  }
  return !is_zero(any);
}

// Levels with the dead zone, transposed. Returns whether there is one.
static inline bool quantise8x8_by_dead_zone(const std::int16_t (&coefficients)[64], const Quantiser8x8At& q,
                                            std::int16_t (&levels)[64]) {
  std::int16_t any = 0;
  for (int i = 0; i < 64; ++i) {
    const int coefficient = coefficients[i];
    const int scaled = core::absolute(coefficient) * q.multiplier_at[i];
    const int level = core::quantise_with_dead_zone(scaled, q.shift, q.rounding, q.first_level_at[i]);
    levels[i] = static_cast<std::int16_t>(coefficient < 0 ? -level : level);
    any = static_cast<std::int16_t>(any | levels[i]);
  }
  return any != 0;
}

// The same by RDOQ, each interleaved block on its own in its context. context(i) is called once counted(i,
// total_coeff) has counted the earlier blocks.
template <class Rate, class Context, class Counted>
static inline bool quantise8x8_by_rdoq(const Rate& rate, const std::int16_t (&coefficients)[64],
                                       const Quantiser8x8At& q, const Context& context,
                                       const Counted& counted, InterleavedLevels& levels,
                                       std::int16_t (&transposed)[64]) {
  bool any = false;
  for (int i = 0; i < 4; ++i) {
    const std::uint8_t* const order = kInterleavedOrder.at + 16 * i;
    std::int32_t scaled[16];
    std::uint32_t negative = 0;
    for (int k = 0; k < 16; ++k) {
      const int coefficient = coefficients[order[k]];
      scaled[k] = core::absolute(coefficient) * q.multiplier_at[order[k]];
      negative |= static_cast<std::uint32_t>(coefficient < 0) << k;
    }
    core::rdoq_block(rate, scaled, negative, core::BlockCategory::luma_4x4, q.shift, context(i), levels[i],
                     q.rdoq_lambda);
    const int count = core::count_ones(core::level_masks(levels[i], 16).nonzero);
    counted(i, count);
    any = any || count > 0;
    for (int k = 0; k < 16; ++k) transposed[order[k]] = levels[i][k];
  }
  return any;
}

// The same by RDOQ of the whole block, for a rate model that counts it as one.
template <class Rate>
static inline bool quantise8x8_whole(const Rate& rate, const std::int16_t (&coefficients)[64],
                                     const Quantiser8x8At& q, InterleavedLevels& levels,
                                     std::uint8_t (&total_coeff)[4], std::int16_t (&transposed)[64]) {
  std::int32_t scaled[64];
  std::uint64_t negative = 0;
  for (int k = 0; k < 64; ++k) {
    const int at = kInterleavedOrder.at[16 * core::interleaved_block(k) + core::interleaved_level(k)];
    scaled[k] = core::absolute<int>(coefficients[at]) * q.multiplier_at[at];
    negative |= static_cast<std::uint64_t>(coefficients[at] < 0) << k;
  }
  std::int16_t in_order[64];
  core::rdoq_block8x8(rate, scaled, negative, q.shift, in_order, q.rdoq_lambda);
  std::int16_t any = 0;
  std::memset(total_coeff, 0, sizeof total_coeff);
  for (int k = 0; k < 64; ++k) {
    const int block = core::interleaved_block(k), j = core::interleaved_level(k);
    levels[block][j] = transposed[kInterleavedOrder.at[16 * block + j]] = in_order[k];
    any = static_cast<std::int16_t>(any | in_order[k]);
    total_coeff[block] = static_cast<std::uint8_t>(total_coeff[block] + (in_order[k] != 0 ? 1 : 0));
  }
  return any != 0;
}

// The bits of a block that the rate model counts as one.
template <class Rate>
static inline int bits_of_whole(const Rate& rate, const InterleavedLevels& levels) {
  core::LevelMasks8x8 masks;
  for (int i = 0; i < 4; ++i) {
    const core::LevelMasks of_block = core::level_masks(levels[i], 16);
    masks.nonzero |= core::four_apart(of_block.nonzero) << i;
    masks.ones |= core::four_apart(of_block.ones) << i;
  }
  return rate.block8x8_bits(
      masks, [&](int k) { return levels[core::interleaved_block(k)][core::interleaved_level(k)]; });
}

static inline void to_interleaved(const std::int16_t (&transposed)[64], InterleavedLevels& levels) {
  std::int16_t* const to = levels[0];
  for (int n = 0; n < 64; ++n) to[n] = transposed[kInterleavedOrder.at[n]];
}

static inline void from_interleaved(const InterleavedLevels& levels, std::int16_t (&transposed)[64]) {
  const std::int16_t* const from = levels[0];
  for (int n = 0; n < 64; ++n) transposed[kInterleavedOrder.at[n]] = from[n];
}

// Adds the inverse transform of the transposed levels to the prediction; returns the squared error against
// the source.
static inline int reconstruct_block8x8(const std::int16_t (&levels)[64], const Quantiser8x8At& q,
                                       const std::uint8_t* prediction, int prediction_pitch,
                                       std::uint8_t* out, int out_pitch, const std::uint8_t* source,
                                       int source_pitch) {
  alignas(32) std::int32_t samples[64];
  for (int i = 0; i < 64; ++i) samples[i] = core::dequantise8x8(levels[i], q.level_scale_at[i], q.qp_per);
  EightWide row[8];
  std::memcpy(row, samples, sizeof row);
  core::inverse8_1d(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]);
  transpose(row);
  core::inverse8_1d(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]);
  for (EightWide& r : row) r = (r + 32) >> 6;
  std::memcpy(samples, row, sizeof row);
  int squared_error = 0;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int sample = core::clip_sample(prediction[y * prediction_pitch + x] + samples[8 * y + x], 8);
      const int error = source[y * source_pitch + x] - sample;
      out[y * out_pitch + x] = static_cast<std::uint8_t>(sample);
      squared_error += error * error;
    }
  }
  return squared_error;
}

}  // namespace cu264::encoder::CU264_ISA
