#include "tests/parity/canny_checks.h"

#include <algorithm>
#include <sstream>

#include "vision/detector_backend.h"

namespace cu264::parity {

using namespace vision;
using vision::cuda::Labelling;

namespace {

CandidateSet candidates(std::vector<int> levels) {
  canny::Params params;
  params.candidates = std::move(levels);
  return canny_params(params).candidates;
}

template <class T>
void expect_pixels(const char* stage, const std::vector<T>& expected, const std::vector<T>& found,
                   int width) {
  ASSERT_EQ(expected.size(), found.size()) << stage;
  if (expected == found) return;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(static_cast<int>(expected[i]), static_cast<int>(found[i]))
        << stage << " at " << i % static_cast<std::size_t>(width) << ", "
        << i / static_cast<std::size_t>(width);
  }
}

void expect_counts(const LevelCounts& expected, const LevelCounts& found, const std::string& where) {
  for (int x = 0; x <= kTopLevel; ++x) {
    ASSERT_EQ(expected.with_level[x], found.with_level[x]) << where << " |F(" << x << ")|";
    ASSERT_EQ(expected.histogram[x], found.histogram[x]) << where << " histogram of " << x;
  }
}

}  // namespace

CannyParams with(const std::vector<int>& levels, Partition partition, int sigma_tenths) {
  CannyParams params;
  params.candidates = candidates(levels);
  params.partition = partition;
  params.sigma_tenths = sigma_tenths;
  return params;
}

CannyParams fixed_params(int low, int high) {
  CannyParams params = with(canny::candidates_003(), Partition::frame);
  params.fixed = true;
  params.fixed_low = static_cast<std::uint8_t>(low), params.fixed_high = static_cast<std::uint8_t>(high);
  return params;
}

std::string text(const CannyParams& params, int width, int height) {
  std::ostringstream out;
  out << width << 'x' << height << " sigma " << params.sigma_tenths << " partition "
      << static_cast<int>(params.partition) << " candidates " << params.candidates.count;
  if (params.fixed) out << " fixed " << int{params.fixed_low} << ' ' << int{params.fixed_high};
  return out.str();
}

// Compares every stage that `found` holds.
void expect_same(const Stages& expected, const Stages& found) {
  const int width = expected.width;
  if (!found.horizontal.empty()) {
    expect_pixels("horizontal", expected.horizontal, found.horizontal, width);
    expect_pixels("smoothed", expected.smoothed, found.smoothed, width);
    expect_pixels("dx", expected.dx, found.dx, width);
    expect_pixels("dy", expected.dy, found.dy, width);
    expect_pixels("magnitude", expected.magnitude, found.magnitude, width);
  }
  if (!found.level.empty()) {
    ASSERT_EQ(expected.largest, found.largest);
    expect_pixels("level", expected.level, found.level, width);
  }
  if (!found.sm.empty()) expect_pixels("sm", expected.sm, found.sm, width);
  if (!found.prob.empty()) {
    expect_pixels("prob", expected.prob, found.prob, width);
    // The published form pools only where a sub-image needs it.
    const auto fell_back = [](const Thresholds& t) { return t.source != ThresholdSource::own; };
    if (std::any_of(found.thresholds.begin(), found.thresholds.end(), fell_back))
      expect_counts(expected.pooled, found.pooled, "pooled");
  }
  if (!found.counts.empty()) {
    ASSERT_EQ(expected.counts.size(), found.counts.size());
    for (std::size_t s = 0; s < expected.counts.size(); ++s) {
      LevelCounts counts = expected.counts[s];
      if (!found.distribution.empty()) {  // Algorithm 4, step 6
        for (int x = 0; x <= kTopLevel; ++x) {
          if (counts.with_level[x] == 0) counts.histogram[x] = 0;
        }
      }
      expect_counts(counts, found.counts[s], "sub-image " + std::to_string(s));
    }
  }
  if (!expected.distribution.empty() && !found.distribution.empty()) {
    ASSERT_EQ(expected.distribution, found.distribution) << "P(F(x))";
  }
  ASSERT_EQ(expected.thresholds.size(), found.thresholds.size());
  for (std::size_t s = 0; s < expected.thresholds.size(); ++s) {
    const Thresholds &a = expected.thresholds[s], &b = found.thresholds[s];
    ASSERT_EQ(int{a.low}, int{b.low}) << "low of sub-image " << s;
    ASSERT_EQ(int{a.high}, int{b.high}) << "high of sub-image " << s;
    ASSERT_EQ(static_cast<int>(a.source), static_cast<int>(b.source)) << "source of sub-image " << s;
  }
  expect_pixels("edges", expected.edges, found.edges, width);
}

void expect_same_edges(const std::vector<std::uint8_t>& expected, const std::vector<std::uint8_t>& found,
                       int width) {
  expect_pixels("edges", expected, found, width);
}

Stages on_host(const CannyParams& params, const GrayPicture& picture) {
  return reference_stages(params, picture.samples.data(), picture.width, picture.width, picture.height);
}

void CannyDevice::expect_production(const CannyParams& params, const GrayPicture& picture,
                                    const Stages& expected, const Placement& placement) {
  for (const Labelling labelling : {Labelling::automatic, Labelling::global}) {
    SCOPED_TRACE(labelling == Labelling::global ? "production, global labels" : "production");
    expect_same(expected, production_stages(params, {picture}, labelling, placement)[0]);
    if (HasFatalFailure()) return;
  }
}

void CannyDevice::expect_parity(const CannyParams& params, const GrayPicture& picture,
                                const Placement& placement) {
  SCOPED_TRACE(text(params, picture.width, picture.height));
  const Stages expected = on_host(params, picture);
  expect_production(params, picture, expected, placement);
  if (HasFatalFailure()) return;
  SCOPED_TRACE("published");
  expect_same(expected, published_stages(params, picture, placement));
}

std::string partition_name(const testing::TestParamInfo<Partition>& info) {
  return info.param == Partition::columns ? "columns" : info.param == Partition::rows ? "rows" : "frame";
}

}  // namespace cu264::parity
