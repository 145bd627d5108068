#include "encoder/rate_control/host_measure.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>

#include "encoder/rate_control/weight_steps.h"

namespace cu264::encoder {
namespace {

// Counts into a measure.
struct Counter {
  core::PictureMeasure& measure;
  void count(core::Measured what, int strength) {
    const int bin = core::strength_bin(strength);
    if (bin >= 0) ++measure.histogram[what][bin];
  }
};

// The samples of a 4x4 block, and four samples of the row and the column that it is predicted from, which are
// 0 outside the plane.
struct BlockSamples {
  int samples[16];
  int above[4] = {};
  int left[4] = {};

  BlockSamples(const Plane& plane, int x, int y, int line_x, int line_y) {
    for (int i = 0; i < 16; ++i) samples[i] = plane.row(y + i / 4)[x + i % 4];
    for (int i = 0; i < 4 && line_y >= 0; ++i) above[i] = plane.row(line_y)[x + i];
    for (int i = 0; i < 4 && line_x >= 0; ++i) left[i] = plane.row(y + i)[line_x];
  }
};

void measure_luma(const Plane& luma, int mb_x, int mb_y, int scale, core::PictureMeasure& measure) {
  const bool has_above = mb_y > 0, has_left = mb_x > 0;
  Counter counter{measure};
  core::LineCosts costs;
  int sum_above = 0, sum_left = 0, split_cost = 0;
  for (int i = 0; i < 16; ++i) {
    if (has_above) sum_above += luma.row(16 * mb_y - 1)[16 * mb_x + i];
    if (has_left) sum_left += luma.row(16 * mb_y + i)[16 * mb_x - 1];
  }
  const int dc = core::intra16x16_dc(has_left, sum_left, has_above, sum_above, 8);
  for (int block = 0; block < 16; ++block) {
    const int x = 16 * mb_x + 4 * (block % 4), y = 16 * mb_y + 4 * (block / 4);
    const BlockSamples whole(luma, x, y, 16 * mb_x - 1, 16 * mb_y - 1), own(luma, x, y, x - 1, y - 1);
    int residual[16];
    std::copy_n(own.samples, 16, residual);
    core::forward_transform4x4(residual);
    const core::LineCoefficients lines = core::line_coefficients(whole.above, whole.left);
    costs = core::sum_of_costs(costs, core::line_costs(residual, lines, dc));
    split_cost += core::predict_luma_block(residual, own.above, own.left, y > 0, x > 0);
    core::count_luma_block(residual, scale, counter);
  }
  measure.activity += static_cast<std::uint64_t>(split_cost);
  const core::LineMode mode = core::best_line(costs, has_above, has_left);
  counter.count(core::kSplits, core::split_strength(core::cost_of(costs, mode) - split_cost, scale));
}

void measure_chroma(const Plane (&planes)[3], int mb_x, int mb_y, int scale, core::PictureMeasure& measure) {
  const bool has_above = mb_y > 0, has_left = mb_x > 0;
  Counter counter{measure};
  int samples[8][16], dc[8];
  core::LineCoefficients lines[8];
  core::LineCosts costs;
  for (int block = 0; block < 8; ++block) {
    const int column = block & 1, row = block >> 1 & 1;
    const BlockSamples at(planes[1 + block / 4], 8 * mb_x + 4 * column, 8 * mb_y + 4 * row, 8 * mb_x - 1,
                          8 * mb_y - 1);
    dc[block] = core::intra_chroma_dc(column, row, has_left, core::sum_of(at.left), has_above,
                                      core::sum_of(at.above), 8);
    std::copy_n(at.samples, 16, samples[block]);
    core::forward_transform4x4(samples[block]);
    lines[block] = core::line_coefficients(at.above, at.left);
    costs = core::sum_of_costs(costs, core::line_costs(samples[block], lines[block], dc[block]));
  }
  const core::LineMode mode = core::best_line(costs, has_above, has_left);
  for (int block = 0; block < 8; ++block) {
    core::subtract_line(samples[block], lines[block], dc[block], mode);
    core::count_chroma_ac(samples[block], scale, counter);
  }
  for (int plane = 0; plane < 2; ++plane) {
    int levels[4], greatest = 0;
    for (int i = 0; i < 4; ++i) levels[i] = samples[4 * plane + i][0];
    core::hadamard2x2(levels);
    for (const int level : levels) {
      const int strength = core::strength_of(level, 0, scale, core::kChromaDcExtraShift);
      greatest = core::greater(greatest, strength);
      counter.count(core::kChromaLevels, strength);
    }
    counter.count(core::kChromaBlocks, greatest);
  }
}

}  // namespace

core::PictureMeasure measure_planes(const Plane (&planes)[3], const std::optional<AqParams>& aq) {
  const Plane& luma = planes[0];
  const int mb_width = luma.width / 16, mb_height = luma.height / 16;
  const auto places = core::measured_places(mb_width, mb_height);
  const int strength = variance_strength(aq);
  const auto measure_rows = [&](const tbb::blocked_range<int>& rows, core::PictureMeasure measure) {
    for (int mb_y = rows.begin(); mb_y < rows.end(); ++mb_y) {
      for (int mb_x = core::column_of_place(places, 0, mb_y); mb_x < mb_width; mb_x += places.step) {
        const int weight = weight_above_flat(
            macroblock_sums(luma.row(0), luma.width, nullptr, 0, luma.width, luma.height, mb_x, mb_y));
        const int scale = core::strength_scale(weight_steps(weight, strength));
        measure.weights += weight;
        measure_luma(luma, mb_x, mb_y, scale, measure);
        measure_chroma(planes, mb_x, mb_y, scale, measure);
        ++measure.measured;
      }
    }
    return measure;
  };
  core::PictureMeasure measure = tbb::parallel_reduce(
      tbb::blocked_range<int>(0, mb_height), core::PictureMeasure(), measure_rows, core::sum_of_measures);
  measure.macroblocks = static_cast<std::uint32_t>(mb_width * mb_height);
  measure.aq_strength = strength;
  return measure;
}

}  // namespace cu264::encoder
