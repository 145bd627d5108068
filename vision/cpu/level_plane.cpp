#include "vision/cpu/level_plane.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>

#include "vision/gaussian.h"
#include "vision/gradient.h"
#include "vision/suppression.h"

namespace cu264::vision {
namespace {

// The rows of a task. Smoothing passes over up to 6 more rows above and below horizontally.
constexpr int kRowsTogether = 64;

std::size_t offset(int y, int width) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
}

// Sets `sums` to the sums of taps times samples. row(d) points at the samples at distance d from the centres.
template <typename Sample, typename Row>
void weigh(int sigma_tenths, int width, int* sums, const Row& row) {
  const int centre = gaussian_tap(sigma_tenths, 0);
  const Sample* const middle = row(0);
  for (int x = 0; x < width; ++x) sums[x] = centre * middle[x];
  for (int distance = 1; distance <= gaussian_radius(sigma_tenths); ++distance) {
    const int tap = gaussian_tap(sigma_tenths, distance);
    const Sample* const before = row(-distance);
    const Sample* const behind = row(distance);
    for (int x = 0; x < width; ++x) sums[x] += tap * (before[x] + behind[x]);
  }
}

// The gradients and magnitudes of one row.
struct GradientRow {
  explicit GradientRow(int width) : dx(width), dy(width), magnitude(width) {}
  std::vector<std::int16_t> dx, dy;
  std::vector<std::uint16_t> magnitude;
};

void differentiate(const std::uint16_t* above, const std::uint16_t* row, const std::uint16_t* below,
                   int width, GradientRow& out) {
  std::int16_t* const dx = out.dx.data();
  std::int16_t* const dy = out.dy.data();
  std::uint16_t* const magnitude = out.magnitude.data();
  for (int x = 1; x < width - 1; ++x) {
    dx[x] = static_cast<std::int16_t>(row[x + 1] - row[x - 1]);
    dy[x] = static_cast<std::int16_t>(below[x] - above[x]);
  }
  for (int x = 1; x < width - 1; ++x) {
    magnitude[x] = static_cast<std::uint16_t>(gradient_magnitude(dx[x], dy[x]));
  }
}

}  // namespace

LevelPlane::LevelPlane(const CannyParams& params, int width, int height)
    : params_(params),
      width_(width),
      height_(height),
      smoothed_(offset(height, width)),
      levels_(offset(height, width)) {}

const std::uint16_t* LevelPlane::smoothed_row(int y) const {
  return smoothed_.data() + offset(y, width_);
}

void LevelPlane::compute(const std::uint8_t* picture, std::ptrdiff_t pitch) {
  using Rows = tbb::blocked_range<int>;
  const Rows all(0, height_, kRowsTogether);
  tbb::parallel_for(all, [&](const Rows& rows) { smooth(picture, pitch, rows.begin(), rows.end()); });
  const int square = tbb::parallel_reduce(
      all, 0,
      [&](const Rows& rows, int largest) {
        return std::max(largest, largest_square(rows.begin(), rows.end()));
      },
      [](int a, int b) { return std::max(a, b); });
  const int reference = level_reference(integer_sqrt(square), params_);
  tbb::parallel_for(all, [&](const Rows& rows) { suppress(reference, rows.begin(), rows.end()); });
}

void LevelPlane::smooth(const std::uint8_t* picture, std::ptrdiff_t pitch, int first, int last) {
  const int sigma = params_.sigma_tenths, radius = gaussian_radius(sigma);
  std::vector<int> sums(width_);
  std::vector<std::uint8_t> padded(width_ + 2 * radius);
  // The horizontally smoothed rows first - radius .. last + radius - 1, without those outside the picture.
  const int top = std::max(first - radius, 0), bottom = std::min(last + radius, height_);
  std::vector<std::uint16_t> horizontal(offset(bottom - top, width_));
  for (int y = top; y < bottom; ++y) {
    const std::uint8_t* const row = picture + y * pitch;
    std::copy_n(row, width_, padded.begin() + radius);
    std::fill_n(padded.begin(), radius, row[0]);
    std::fill_n(padded.begin() + radius + width_, radius, row[width_ - 1]);
    weigh<std::uint8_t>(sigma, width_, sums.data(), [&](int d) { return padded.data() + radius + d; });
    std::uint16_t* const to = horizontal.data() + offset(y - top, width_);
    for (int x = 0; x < width_; ++x) to[x] = static_cast<std::uint16_t>(horizontal_rounded(sums[x]));
  }
  for (int y = first; y < last; ++y) {
    weigh<std::uint16_t>(sigma, width_, sums.data(), [&](int d) {
      return horizontal.data() + offset(clamped(y + d, height_) - top, width_);
    });
    std::uint16_t* const to = smoothed_.data() + offset(y, width_);
    for (int x = 0; x < width_; ++x) to[x] = static_cast<std::uint16_t>(vertical_rounded(sums[x]));
  }
}

int LevelPlane::largest_square(int first, int last) const {
  int largest = 0;
  for (int y = std::max(first, 1); y < std::min(last, height_ - 1); ++y) {
    const std::uint16_t *above = smoothed_row(y - 1), *row = smoothed_row(y), *below = smoothed_row(y + 1);
    for (int x = 1; x < width_ - 1; ++x) {
      const int dx = row[x + 1] - row[x - 1], dy = below[x] - above[x];
      largest = std::max(largest, dx * dx + dy * dy);
    }
  }
  return largest;
}

void LevelPlane::suppress(int reference, int first, int last) {
  // Holds rows y - 1, y and y + 1 in turn. The picture's frame keeps magnitude 0.
  GradientRow rows[3] = {GradientRow(width_), GradientRow(width_), GradientRow(width_)};
  const auto prepare = [&](int y) {
    GradientRow& row = rows[(y + 3) % 3];
    if (y <= 0 || y >= height_ - 1) {
      std::fill(row.magnitude.begin(), row.magnitude.end(), std::uint16_t{0});
    } else {
      differentiate(smoothed_row(y - 1), smoothed_row(y), smoothed_row(y + 1), width_, row);
    }
  };
  prepare(first - 1);
  prepare(first);
  for (int y = first; y < last; ++y) {
    prepare(y + 1);
    std::uint8_t* const out = levels_.data() + offset(y, width_);
    std::fill_n(out, width_, std::uint8_t{0});
    if (y == 0 || y == height_ - 1) continue;
    const GradientRow& row = rows[y % 3];
    const std::uint16_t* const near[3] = {rows[(y + 2) % 3].magnitude.data(), row.magnitude.data(),
                                          rows[(y + 1) % 3].magnitude.data()};
    for (int x = 1; x < width_ - 1; ++x) {
      const int magnitude = row.magnitude[x];
      if (kTopLevel * magnitude < reference || magnitude == 0) continue;  // level 0
      const Direction d = direction_of(row.dx[x], row.dy[x]);
      if (is_maximum(magnitude, d.along, d.across, near[1 + d.axis_y][x + d.axis_x],
                     near[1 + d.diagonal_y][x + d.diagonal_x], near[1 - d.axis_y][x - d.axis_x],
                     near[1 - d.diagonal_y][x - d.diagonal_x])) {
        out[x] = static_cast<std::uint8_t>(level_of(magnitude, reference));
      }
    }
  }
}

}  // namespace cu264::vision
