#include "encoder/adaptive_quantisation/qp_offsets.h"

#include <tbb/parallel_for.h>

#include <numeric>

#include "core/mb_qp_delta.h"
#include "vision/gaussian.h"
#include "vision/half_size_steps.h"

namespace cu264::encoder {

using vision::clamped;

MacroblockSums macroblock_sums(const std::uint8_t* luma, std::ptrdiff_t pitch, const std::uint8_t* edges,
                               std::ptrdiff_t edge_pitch, int width, int height, int mb_x, int mb_y) {
  MacroblockSums sums;
  const int left = mb_x * kMacroblockSide, top = mb_y * kMacroblockSide;
  for (int y = top; y < top + kMacroblockSide; ++y) {
    const std::uint8_t* const row = luma + clamped(y, height) * pitch;
    const std::uint8_t* const marks = edges && y < height ? edges + y * edge_pitch : nullptr;
    if (left + kMacroblockSide <= width) {
      for (int x = left; x < left + kMacroblockSide; ++x) add_sample(sums, row[x], marks && marks[x] != 0);
    } else {
      for (int x = left; x < left + kMacroblockSide; ++x) {
        add_sample(sums, row[clamped(x, width)], marks && x < width && marks[x] != 0);
      }
    }
  }
  return sums;
}

namespace {

// Computes offsets from weights and stores them in place of those of the previous picture.
void settle(const AqParams& params, const std::vector<int>& weights, std::vector<std::int8_t>& previous) {
  const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  const int mean = mean_weight(sum, static_cast<int>(weights.size()));
  if (!params.remembers) previous.clear();
  previous.resize(weights.size(), static_cast<std::int8_t>(kNoPrevious));
  for (std::size_t mb = 0; mb < weights.size(); ++mb) {
    const int target = offset_target(weights[mb], mean, params.strength);
    previous[mb] = static_cast<std::int8_t>(settled_offset(target, previous[mb]));
  }
}

// `sums_of` returns the sums of the macroblock at (mb_x, mb_y).
template <class SumsOf>
void settle_sums(const AqParams& params, int mb_width, int mb_height, const SumsOf& sums_of,
                 std::vector<std::int8_t>& previous) {
  std::vector<int> weights(static_cast<std::size_t>(mb_width) * mb_height);
  tbb::parallel_for(0, mb_height, [&](int mb_y) {
    for (int mb_x = 0; mb_x < mb_width; ++mb_x) {
      weights[static_cast<std::size_t>(mb_y) * mb_width + mb_x] =
          macroblock_weight(params.mode, sums_of(mb_x, mb_y));
    }
  });
  settle(params, weights, previous);
}

}  // namespace

void edge_map_qp_offsets(const AqParams& params, const std::uint8_t* luma, std::ptrdiff_t pitch,
                         const std::uint8_t* edges, std::ptrdiff_t edge_pitch, int width, int height,
                         std::vector<std::int8_t>& previous) {
  const int mb_width = (width + kMacroblockSide - 1) / kMacroblockSide;
  const int mb_height = (height + kMacroblockSide - 1) / kMacroblockSide;
  const auto sums_of = [&](int mb_x, int mb_y) {
    return macroblock_sums(luma, pitch, edges, edge_pitch, width, height, mb_x, mb_y);
  };
  settle_sums(params, mb_width, mb_height, sums_of, previous);
}

void step_qp_offsets(const AqParams& params, const std::uint8_t* luma, std::ptrdiff_t pitch, int mb_width,
                     int mb_height, std::vector<std::int8_t>& previous) {
  const int width = kMacroblockSide * mb_width, height = kMacroblockSide * mb_height;
  const auto sums_of = [&](int mb_x, int mb_y) {
    MacroblockSums sums = macroblock_sums(luma, pitch, nullptr, 0, width, height, mb_x, mb_y);
    sums.edges = vision::count_steps(luma, pitch, mb_x, mb_y, mb_width, mb_height);
    return sums;
  };
  settle_sums(params, mb_width, mb_height, sums_of, previous);
}

void raise_rows(const core::PictureParams& picture, int mb_width, int mb_height,
                std::vector<std::int8_t>& offsets) {
  for (int mb = 0; mb < mb_width * mb_height; ++mb) {
    std::int8_t& offset = offsets[static_cast<std::size_t>(mb)];
    offset = static_cast<std::int8_t>(offset + core::row_raise(picture, mb / mb_width, mb_height));
  }
}

}  // namespace cu264::encoder
