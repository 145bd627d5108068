// Adaptive quantisation: a QP offset for each macroblock, from its edges or its variance. Three sums over the
// 16 x 16 samples of a macroblock give its weight. The offset depends on the difference from the picture's
// mean weight, so offsets have a mean of zero (except for clipping at +-12) and the bitrate stays comparable.
// All arithmetic is in integers: weights and offsets are in Q8 until the last rounding, and logarithms are to
// base 2.
//
//   aq variance   weight = log2(variance + 16). Contrast hides quantisation; flat macroblocks get a lower QP.
//   edges         that minus 7/16 for each edge sample of a GUD-Canny map, up to 16 of them. Macroblocks with
//                 edges of weak contrast get the lowest QP, texture without edges the highest.
//   steps         the same with the steps of brightness of vision/half_size_steps.h instead of edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bit_ops.h"
#include "core/hd.h"
#include "core/picture_params.h"

namespace cu264::encoder {

// none: offsets are zero, except in rows whose QP is raised (core::PictureParams::raised_rows).
enum class AqMode : std::uint8_t { none, edges, variance, steps };

inline constexpr int kStrengthOne = 256;               // Q8
inline constexpr int kMaxStrength = 3 * kStrengthOne;  // strength 0 .. 3
inline constexpr int kMaxOffset = 12;                  // offsets are -12 .. 12
inline constexpr int kNoPrevious = 127;                // stands for a previous offset where there is none
inline constexpr int kHysteresis =
    3 * kStrengthOne / 4;  // how far the target may move before the offset follows
inline constexpr int kMacroblockSide = 16;

// Sums over a macroblock's 256 samples, which may be added in any order. Outside the picture its border
// samples are repeated, as in coding.
struct MacroblockSums {
  std::int32_t edges = 0;    // samples that are edges of a map, or steps (vision/half_size_steps.h)
  std::int32_t sum = 0;      // of the samples
  std::int32_t squares = 0;  // of their squares
};

CU264_HD void add_sample(MacroblockSums& sums, int sample, bool edge) {
  sums.edges += edge;
  sums.sum += sample;
  sums.squares += sample * sample;
}

// log2(1 + value) in Q8, linear between powers of two; 0 <= value < 2^31 - 1.
CU264_HD int log2_of(int value) {
  const std::uint32_t x = static_cast<std::uint32_t>(value) + 1;
  const int exponent = core::highest_bit(x);
  const std::uint32_t fraction = x ^ (1u << exponent);  // of 2^exponent
  const std::uint32_t q8 = exponent >= 8 ? fraction >> (exponent - 8) : fraction << (8 - exponent);
  return exponent * kStrengthOne + static_cast<int>(q8);
}

// 256 squares fit into 31 bits, and the square of the sum of 256 samples into 32. A deviation of less than
// four grey levels neither hides errors nor holds edges; without kNoiseFloor the faintest noise would get the
// most bits.
CU264_HD int variance_weight(const MacroblockSums& sums) {
  constexpr int kNoiseFloor = 16 * 256;  // a variance, times samples
  const std::uint32_t total = static_cast<std::uint32_t>(sums.sum);
  const int deviation = sums.squares - static_cast<std::int32_t>(total * total / 256);
  return log2_of(deviation + kNoiseFloor);
}

CU264_HD int edge_weight(const MacroblockSums& sums) {
  constexpr int kEdgeWeight = 7 * kStrengthOne / 16, kEnough = 16;
  return variance_weight(sums) - kEdgeWeight * (sums.edges < kEnough ? sums.edges : kEnough);
}

CU264_HD int macroblock_weight(AqMode mode, const MacroblockSums& sums) {
  return mode == AqMode::variance ? variance_weight(sums) : edge_weight(sums);
}

// The mean of a picture's weights, rounded down. kLift keeps the dividend from being negative.
CU264_HD int mean_weight(std::int64_t sum, int count) {
  constexpr int kLift = 1 << 12;
  return static_cast<int>((sum + static_cast<std::int64_t>(count) * kLift) / count) - kLift;
}

// The offset that the weight asks for, in Q8. strength: 0 .. kMaxStrength.
CU264_HD int offset_target(int weight, int mean, int strength) {
  const int target = (weight - mean) * strength / kStrengthOne;
  const int most = kMaxOffset * kStrengthOne;
  return target < -most ? -most : target > most ? most : target;
}

// The macroblock's offset: that of the previous picture while the target stays near it, so that offsets do
// not flicker, otherwise the nearest to the target. `previous` may be kNoPrevious.
CU264_HD int settled_offset(int target, int previous) {
  const int moved = target - previous * kStrengthOne;
  if (previous != kNoPrevious && moved <= kHysteresis && moved >= -kHysteresis) return previous;
  return (target + kMaxOffset * kStrengthOne + kStrengthOne / 2) / kStrengthOne - kMaxOffset;
}

struct AqParams {
  AqMode mode = AqMode::edges;
  int strength = kStrengthOne;  // Q8
  // Whether offsets depend on those of the stream's previous picture. If not, a picture that is coded again
  // gets the same offsets again.
  bool remembers = true;

  bool operator==(const AqParams&) const = default;
};

// Computes on the host an offset for each macroblock in raster order, for a picture of width x height and its
// edge map (255: edge; null: none, as variance needs none). Pitches are in bytes. `previous` holds the
// offsets of the picture before, or is empty, and receives those of this picture.
void edge_map_qp_offsets(const AqParams& params, const std::uint8_t* luma, std::ptrdiff_t pitch,
                         const std::uint8_t* edges, std::ptrdiff_t edge_pitch, int width, int height,
                         std::vector<std::int8_t>& previous);

// The same for luma padded to whole macroblocks, with the steps of vision/half_size_steps.h as edges.
void step_qp_offsets(const AqParams& params, const std::uint8_t* luma, std::ptrdiff_t pitch, int mb_width,
                     int mb_height, std::vector<std::int8_t>& previous);

// Adds the raise of a picture's last rows to its offsets.
void raise_rows(const core::PictureParams& picture, int mb_width, int mb_height,
                std::vector<std::int8_t>& offsets);

// The sums of one macroblock on the host.
MacroblockSums macroblock_sums(const std::uint8_t* luma, std::ptrdiff_t pitch, const std::uint8_t* edges,
                               std::ptrdiff_t edge_pitch, int width, int height, int mb_x, int mb_y);

}  // namespace cu264::encoder
