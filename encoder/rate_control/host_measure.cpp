#include "encoder/rate_control/host_measure.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>

#include "encoder/rate_control/weight_steps.h"

namespace cu264::encoder {
namespace {

using core::StrengthHistograms;

// The multipliers of a macroblock, which contain its weight.
struct Multipliers {
  int of[16];

  explicit Multipliers(int steps) {
    const int scale = core::strength_scale(steps);
    for (int i = 0; i < 16; ++i) of[i] = core::scaled_multiplier(i, scale);
  }
};

int magnitude(int value) {
  return value < 0 ? -value : value;
}

void count(int strength, std::uint32_t* histogram) {
  const int bin = core::strength_bin(strength);
  if (bin >= 0) ++histogram[bin];
}

// Counts coefficients first .. 15 of a block in raster order.
void count_block(const int (&x)[16], int first, const Multipliers& multipliers,
                 StrengthHistograms& histograms) {
  int greatest = 0;
  for (int i = first; i < 16; ++i) {
    const int strength = magnitude(x[i]) * multipliers.of[i];
    greatest = std::max(greatest, strength);
    count(strength, histograms.coefficients);
  }
  count(greatest, histograms.blocks);
}

// The samples of a 4x4 block and those next to it. Those outside the plane are not read; they are 0.
struct BlockSamples {
  int samples[16];
  int above[4] = {};
  int left[4] = {};

  // `line_y` and `line_x` are the row and the column that the block is predicted from.
  BlockSamples(const Plane& plane, int x, int y, int line_x, int line_y) {
    for (int i = 0; i < 16; ++i) samples[i] = plane.row(y + i / 4)[x + i % 4];
    for (int i = 0; i < 4 && line_y >= 0; ++i) above[i] = plane.row(line_y)[x + i];
    for (int i = 0; i < 4 && line_x >= 0; ++i) left[i] = plane.row(y + i)[line_x];
  }
};

void measure_luma(const Plane& luma, int mb_x, int mb_y, const Multipliers& multipliers,
                  core::PictureMeasure& measure) {
  for (int block = 0; block < 16; ++block) {
    const int x = 16 * mb_x + 4 * (block % 4), y = 16 * mb_y + 4 * (block / 4);
    BlockSamples at(luma, x, y, x - 1, y - 1);
    const int cost = core::luma_residual(at.samples, at.above, at.left, y > 0, x > 0);
    measure.activity += static_cast<std::uint64_t>(cost);
    count_block(at.samples, 0, multipliers, measure.luma);
  }
}

void measure_chroma(const Plane (&planes)[3], int mb_x, int mb_y, const Multipliers& multipliers,
                    StrengthHistograms& histograms) {
  const bool has_above = mb_y > 0, has_left = mb_x > 0;
  int samples[8][16], dc[8];
  core::LineCoefficients line[8];
  core::LineCosts costs;
  for (int block = 0; block < 8; ++block) {
    const int column = block & 1, row = block >> 1 & 1;
    BlockSamples at(planes[1 + block / 4], 8 * mb_x + 4 * column, 8 * mb_y + 4 * row, 8 * mb_x - 1,
                    8 * mb_y - 1);
    dc[block] = core::intra_chroma_dc(column, row, has_left, core::sum_of(at.left), has_above,
                                      core::sum_of(at.above), 8);
    std::copy_n(at.samples, 16, samples[block]);
    core::forward_transform4x4(samples[block]);
    line[block] = core::line_coefficients(at.above, at.left);
    const core::LineCosts own = core::line_costs(samples[block], line[block], dc[block]);
    costs.dc += own.dc, costs.vertical += own.vertical, costs.horizontal += own.horizontal;
  }
  const core::LineMode mode = core::best_line(costs, has_above, has_left);
  for (int block = 0; block < 8; ++block) {
    core::subtract_line(samples[block], line[block], dc[block], mode);
    count_block(samples[block], 1, multipliers, histograms);
  }
  for (int plane = 0; plane < 2; ++plane) {
    int levels[4];
    for (int i = 0; i < 4; ++i) levels[i] = samples[4 * plane + i][0];
    core::hadamard2x2(levels);
    int greatest = 0;
    for (const int level : levels) {
      const int strength = core::chroma_dc_strength(level, multipliers.of[0]);
      greatest = std::max(greatest, strength);
      count(strength, histograms.coefficients);
    }
    count(greatest, histograms.blocks);
  }
}

}  // namespace

core::PictureMeasure measure_planes(const Plane (&planes)[3], const std::optional<AqParams>& aq) {
  const Plane& luma = planes[0];
  const int mb_width = luma.width / 16, mb_height = luma.height / 16;
  const auto measure_rows = [&](const tbb::blocked_range<int>& rows, core::PictureMeasure measure) {
    for (int mb_y = rows.begin(); mb_y < rows.end(); ++mb_y) {
      for (int mb_x = 0; mb_x < mb_width; ++mb_x) {
        int steps = 0;
        if (weighs_macroblocks(aq)) {
          const int weight = weight_of_macroblock(
              *aq, macroblock_sums(luma.row(0), luma.width, nullptr, 0, luma.width, luma.height, mb_x, mb_y));
          measure.weights += weight;
          steps = weight_steps(weight);
        }
        const Multipliers multipliers(steps);
        measure_luma(luma, mb_x, mb_y, multipliers, measure);
        measure_chroma(planes, mb_x, mb_y, multipliers, measure.chroma);
        ++measure.measured;
      }
    }
    return measure;
  };
  core::PictureMeasure measure = tbb::parallel_reduce(
      tbb::blocked_range<int>(0, mb_height), core::PictureMeasure(), measure_rows, core::sum_of_measures);
  measure.macroblocks = static_cast<std::uint32_t>(mb_width * mb_height);
  return measure;
}

}  // namespace cu264::encoder
