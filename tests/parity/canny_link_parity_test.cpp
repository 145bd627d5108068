// The stages after the levels (link, counts, thresholds, hysteresis) give the host's results for given
// levels.
#include "tests/parity/canny_checks.h"
#include "vision/cpu/level_view.h"
#include "vision/detector_backend.h"
#include "vision/published/pass_hysteresis.h"

namespace cu264::parity {
namespace {

using namespace vision;
using vision::cuda::Labelling;

Stages linked_on_host(const CannyParams& params, const GrayPicture& levels) {
  const SubImageLayout layout = sub_image_layout(levels.width, levels.height, params.partition);
  Stages stages;
  stages.width = levels.width, stages.height = levels.height;
  stages.sm.assign(levels.samples.size(), 0);
  stages.counts.resize(static_cast<std::size_t>(layout.count));
  stages.thresholds.resize(static_cast<std::size_t>(layout.count));
  stages.edges.assign(levels.samples.size(), 0);
  PassHysteresis hysteresis;
  const int highest = highest_candidate(params.candidates), pairs = pair_count(params.candidates);
  LevelCounts pooled;
  for (int s = 0; s < layout.count && !params.fixed; ++s) {
    const Rectangle r = sub_image(layout, s);
    published_sums(view_of(levels.samples.data(), levels.width, r), params.candidates, hysteresis,
                   stages.sm.data() + static_cast<std::ptrdiff_t>(r.y) * levels.width + r.x, levels.width);
    LevelCounts& counts = stages.counts[static_cast<std::size_t>(s)];
    for (int y = r.y; y < r.y + r.height; ++y) {
      for (int x = r.x; x < r.x + r.width; ++x) {
        const std::size_t at = static_cast<std::size_t>(y) * levels.width + x;
        const int prob = probability(stages.sm[at], pairs), level = levels.samples[at];
        if (counts_in_level(level, prob, highest)) ++counts.with_level[level], ++pooled.with_level[level];
        if (counts_in_histogram(prob, highest)) ++counts.histogram[prob], ++pooled.histogram[prob];
      }
    }
  }
  const Thresholds fallback = fallback_thresholds(pooled, highest);
  for (int s = 0; s < layout.count; ++s) {
    Thresholds& thresholds = stages.thresholds[static_cast<std::size_t>(s)];
    thresholds = params.fixed
                     ? Thresholds{params.fixed_low, params.fixed_high, ThresholdSource::fixed, 0}
                     : sub_image_thresholds(stages.counts[static_cast<std::size_t>(s)], fallback, highest);
    const Rectangle r = sub_image(layout, s);
    hysteresis.run(view_of(levels.samples.data(), levels.width, r), thresholds.low, thresholds.high);
    for (int y = 0; y < r.height; ++y) {
      for (int x = 0; x < r.width; ++x) {
        if (hysteresis.edge(x, y)) {
          stages.edges[static_cast<std::size_t>(r.y + y) * levels.width + static_cast<std::size_t>(r.x + x)] =
              kEdge;
        }
      }
    }
  }
  if (params.fixed) stages.sm.clear(), stages.counts.clear();
  return stages;
}

void expect_link_parity(const CannyParams& params, const GrayPicture& levels) {
  SCOPED_TRACE(text(params, levels.width, levels.height));
  const Stages expected = linked_on_host(params, levels);
  for (const Labelling labelling : {Labelling::automatic, Labelling::global}) {
    SCOPED_TRACE(labelling == Labelling::global ? "production, global labels" : "production");
    expect_same(expected, production_from_levels(params, levels, labelling));
    if (testing::Test::HasFatalFailure()) return;
  }
  SCOPED_TRACE("published");
  expect_same(expected, published_from_levels(params, levels));
}

class CannyLinkParity : public CannyPartitions {};
CU264_EVERY_PARTITION(CannyLinkParity);

TEST_P(CannyLinkParity, Serpentine) {
  const GrayPicture levels = serpentine(512);
  PassHysteresis hysteresis;
  hysteresis.run({levels.samples.data(), 32, 32, 512}, 4, 30);
  ASSERT_GT(hysteresis.passes(), 7900) << "the path is not as long as it should be";
  expect_link_parity(with(canny::candidates_003(), GetParam()), levels);
  CannyParams plain = fixed_params(4, 30);
  expect_link_parity(plain, levels);
}

TEST_P(CannyLinkParity, RandomLevels) {
  unsigned seed = 20;
  for (const int percent : {3, 20, 45, 60, 100}) {
    for (const int most : {4, 27, 100}) {
      expect_link_parity(with(canny::candidates_001(), GetParam()),
                         random_levels(100, 67, percent, most, ++seed));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
