#include "vision/guide.h"

#include <tbb/parallel_for.h>

#include <numeric>

#include "vision/gaussian.h"

namespace cu264::vision {

MacroblockSums macroblock_sums(const std::uint8_t* luma, std::ptrdiff_t pitch, const std::uint8_t* edges,
                               std::ptrdiff_t edge_pitch, int width, int height, int mb_x, int mb_y) {
  MacroblockSums sums;
  const int left = mb_x * kMacroblockSide, top = mb_y * kMacroblockSide;
  for (int y = top; y < top + kMacroblockSide; ++y) {
    const std::uint8_t* const row = luma + inside(y, height) * pitch;
    const std::uint8_t* const marks = edges && y < height ? edges + y * edge_pitch : nullptr;
    if (left + kMacroblockSide <= width) {
      for (int x = left; x < left + kMacroblockSide; ++x) add_sample(sums, row[x], marks && marks[x] != 0);
    } else {
      for (int x = left; x < left + kMacroblockSide; ++x) {
        add_sample(sums, row[inside(x, width)], marks && x < width && marks[x] != 0);
      }
    }
  }
  return sums;
}

void guide_offsets(const GuideParams& params, const std::uint8_t* luma, std::ptrdiff_t pitch,
                   const std::uint8_t* edges, std::ptrdiff_t edge_pitch, int width, int height,
                   std::vector<std::int8_t>& previous) {
  const int mb_width = (width + kMacroblockSide - 1) / kMacroblockSide;
  const int mb_height = (height + kMacroblockSide - 1) / kMacroblockSide;
  const int count = mb_width * mb_height;
  std::vector<int> weights(static_cast<std::size_t>(count));
  std::int64_t sum = 0;
  for (int mb = 0; mb < count; ++mb) {
    weights[mb] = macroblock_weight(params.mode, macroblock_sums(luma, pitch, edges, edge_pitch, width,
                                                                 height, mb % mb_width, mb / mb_width));
    sum += weights[mb];
  }
  const int mean = mean_weight(sum, count);
  previous.resize(weights.size(), static_cast<std::int8_t>(kNoPrevious));
  for (int mb = 0; mb < count; ++mb) {
    const int target = offset_target(weights[mb], mean, params.strength);
    previous[mb] = static_cast<std::int8_t>(settled_offset(target, previous[mb]));
  }
}

}  // namespace cu264::vision
