// The reference computes every stage separately, pixel by pixel, with hysteresis by passes.
#include "vision/published/reference_stages.h"
#include "vision/gaussian.h"
#include "vision/gradient.h"
#include "vision/published/pass_hysteresis.h"
#include "vision/suppression.h"

namespace cu264::vision {
namespace {

std::size_t pixel_index(const Stages& stages, int x, int y) {
  return static_cast<std::size_t>(y) * static_cast<std::size_t>(stages.width) + static_cast<std::size_t>(x);
}

template <typename Visit>
void for_each_pixel(const Stages& stages, const Visit& visit) {
  for (int y = 0; y < stages.height; ++y) {
    for (int x = 0; x < stages.width; ++x) visit(x, y, pixel_index(stages, x, y));
  }
}

void smooth(const CannyParams& params, const std::uint8_t* picture, std::ptrdiff_t pitch, Stages& stages) {
  const int radius = gaussian_radius(params.sigma_tenths);
  const auto tap = [&](int distance) {
    return gaussian_tap(params.sigma_tenths, distance < 0 ? -distance : distance);
  };
  for_each_pixel(stages, [&](int x, int y, std::size_t at) {
    int sum = 0;
    for (int d = -radius; d <= radius; ++d) sum += tap(d) * picture[y * pitch + clamped(x + d, stages.width)];
    stages.horizontal[at] = static_cast<std::uint16_t>(horizontal_rounded(sum));
  });
  for_each_pixel(stages, [&](int x, int y, std::size_t at) {
    int sum = 0;
    for (int d = -radius; d <= radius; ++d) {
      sum += tap(d) * stages.horizontal[pixel_index(stages, x, clamped(y + d, stages.height))];
    }
    stages.smoothed[at] = static_cast<std::uint16_t>(vertical_rounded(sum));
  });
}

void differentiate(Stages& stages) {
  for_each_pixel(stages, [&](int x, int y, std::size_t at) {
    if (!has_gradient(x, y, stages.width, stages.height)) return;
    const int dx = stages.smoothed[at + 1] - stages.smoothed[at - 1];
    const int dy =
        stages.smoothed[pixel_index(stages, x, y + 1)] - stages.smoothed[pixel_index(stages, x, y - 1)];
    const int magnitude = gradient_magnitude(dx, dy);
    stages.dx[at] = static_cast<std::int16_t>(dx);
    stages.dy[at] = static_cast<std::int16_t>(dy);
    stages.magnitude[at] = static_cast<std::uint16_t>(magnitude);
    if (magnitude > stages.largest) stages.largest = magnitude;
  });
}

void suppress(const CannyParams& params, Stages& stages) {
  const int reference = level_reference(stages.largest, params);
  for_each_pixel(stages, [&](int x, int y, std::size_t at) {
    if (!has_gradient(x, y, stages.width, stages.height)) return;
    const Direction d = direction_of(stages.dx[at], stages.dy[at]);
    const auto magnitude = [&](int step_x, int step_y) {
      return stages.magnitude[pixel_index(stages, x + step_x, y + step_y)];
    };
    const bool kept = is_maximum(stages.magnitude[at], d.along, d.across, magnitude(d.axis_x, d.axis_y),
                                 magnitude(d.diagonal_x, d.diagonal_y), magnitude(-d.axis_x, -d.axis_y),
                                 magnitude(-d.diagonal_x, -d.diagonal_y));
    if (kept) stages.level[at] = static_cast<std::uint8_t>(level_of(stages.magnitude[at], reference));
  });
}

void count(const CannyParams& params, const Rectangle& window, Stages& stages, LevelCounts& counts) {
  const int highest = highest_candidate(params.candidates);
  for (int y = window.y; y < window.y + window.height; ++y) {
    for (int x = window.x; x < window.x + window.width; ++x) {
      const std::size_t at = pixel_index(stages, x, y);
      const int level = stages.level[at], prob = stages.prob[at];
      counts.with_level[level] += counts_in_level(level, prob, highest);
      counts.histogram[prob] += counts_in_histogram(prob, highest);
    }
  }
}

// P(F(x)) = |F(x)| / |Prob_x|, where Prob_x are the pixels with Prob >= x.
void find_distribution(const SubImageLayout& layout, Stages& stages) {
  for (int i = 0; i < layout.count; ++i) {
    const Rectangle window = sub_image(layout, i);
    int at_least[kTopLevel + 1] = {};
    for (int y = window.y; y < window.y + window.height; ++y) {
      for (int x = window.x; x < window.x + window.width; ++x) {
        for (int level = 1; level <= stages.prob[pixel_index(stages, x, y)]; ++level) ++at_least[level];
      }
    }
    for (int x = 0; x <= kTopLevel; ++x) {
      const auto with_level = static_cast<float>(stages.counts[i].with_level[x]);
      stages.distribution.push_back(at_least[x] == 0 ? 0 : with_level / static_cast<float>(at_least[x]));
    }
  }
}

void find_thresholds(const CannyParams& params, const SubImageLayout& layout, Stages& stages) {
  const CandidateSet& set = params.candidates;
  const int highest = highest_candidate(set);
  PassHysteresis hysteresis;
  stages.counts.resize(layout.count);
  for (int i = 0; i < layout.count; ++i) {
    const Rectangle window = sub_image(layout, i);
    published_sums(view_of(stages.level.data(), stages.width, window), set, hysteresis,
                   stages.sm.data() + pixel_index(stages, window.x, window.y), stages.width);
  }
  for_each_pixel(stages, [&](int, int, std::size_t at) {
    stages.prob[at] = static_cast<std::uint8_t>(probability(stages.sm[at], pair_count(set)));
  });
  for (int i = 0; i < layout.count; ++i) {
    count(params, sub_image(layout, i), stages, stages.counts[i]);
    for (int x = 0; x <= kTopLevel; ++x) {
      stages.pooled.with_level[x] += stages.counts[i].with_level[x];
      stages.pooled.histogram[x] += stages.counts[i].histogram[x];
    }
  }
  find_distribution(layout, stages);
  const Thresholds fallback = fallback_thresholds(stages.pooled, highest);
  for (int i = 0; i < layout.count; ++i) {
    stages.thresholds[i] = sub_image_thresholds(stages.counts[i], fallback, highest);
  }
  if (!params.density_scaling) return;
  for (const std::uint8_t level : stages.level) stages.busy += level >= kBusyLevel;
  const int scale = density_scale(stages.busy, static_cast<std::int64_t>(stages.level.size()));
  for (Thresholds& thresholds : stages.thresholds) thresholds = scaled_to_density(thresholds, scale);
}

}  // namespace

Stages reference_stages(const CannyParams& params, const std::uint8_t* picture, std::ptrdiff_t pitch,
                        int width, int height) {
  Stages stages;
  stages.width = width, stages.height = height;
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (auto* plane : {&stages.horizontal, &stages.smoothed, &stages.magnitude, &stages.sm})
    plane->resize(pixels);
  for (auto* plane : {&stages.dx, &stages.dy}) plane->resize(pixels);
  for (auto* plane : {&stages.level, &stages.prob, &stages.edges}) plane->resize(pixels);
  smooth(params, picture, pitch, stages);
  differentiate(stages);
  suppress(params, stages);

  const SubImageLayout layout = sub_image_layout(width, height, params.partition);
  stages.thresholds.assign(layout.count, fixed_thresholds(params.fixed_low, params.fixed_high));
  if (!params.fixed) find_thresholds(params, layout, stages);
  PassHysteresis hysteresis;
  for (int i = 0; i < layout.count; ++i) {
    const Rectangle window = sub_image(layout, i);
    hysteresis.run(view_of(stages.level.data(), width, window), stages.thresholds[i].low,
                   stages.thresholds[i].high);
    for (int y = 0; y < window.height; ++y) {
      for (int x = 0; x < window.width; ++x) {
        if (hysteresis.edge(x, y)) stages.edges[pixel_index(stages, window.x + x, window.y + y)] = kEdge;
      }
    }
  }
  return stages;
}

}  // namespace cu264::vision
