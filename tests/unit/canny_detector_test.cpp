// The edge detector on the CPU: its two forms and a reference written here agree, on ordinary and on adverse
// pictures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cu264/canny.h"
#include "vision/cpu/linking_forest.h"
#include "vision/detector_backend.h"
#include "vision/published/open_detector.h"
#include "vision/published/pass_hysteresis.h"
#include "vision/published/reference_stages.h"

namespace cu264 {
namespace {

struct Gray {
  int width, height;
  std::vector<std::uint8_t> samples;
};

Gray gray(int width, int height, const std::function<int(int, int)>& sample) {
  Gray picture{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) picture.samples.push_back(static_cast<std::uint8_t>(sample(x, y)));
  }
  return picture;
}

Gray noise(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  return gray(width, height, [&](int, int) { return static_cast<int>(random() & 255); });
}

// Discs and ramps with a little noise, which lead to thresholds of all kinds.
Gray shapes(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Gray picture = gray(width, height, [&](int x, int y) { return 60 + (x * 40 / width) + (y * 30 / height); });
  for (int disc = 0; disc < 12; ++disc) {
    const int cx = static_cast<int>(random() % width), cy = static_cast<int>(random() % height);
    const int radius = 2 + static_cast<int>(random() % (width / 4 + 2)),
              add = static_cast<int>(random() % 90);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int dx = x - cx, dy = y - cy;
        if (dx * dx + dy * dy < radius * radius)
          picture.samples[y * width + x] += static_cast<std::uint8_t>(add);
      }
    }
  }
  for (auto& sample : picture.samples) sample = static_cast<std::uint8_t>(sample ^ (random() & 3));
  return picture;
}

struct Found {
  std::vector<std::uint8_t> edges;
  std::vector<canny::Thresholds> thresholds;
};

enum class Form { production, published };

Found detect(const canny::Params& params, const Gray& picture, Form form, int threads = 1) {
  canny::ExecutionOptions execution;
  execution.backend = BackendChoice::cpu, execution.threads = threads;
  canny::Detector detector = form == Form::published
                                 ? published::open_detector(params, picture.width, picture.height, execution)
                                 : canny::Detector(params, picture.width, picture.height, execution);
  Found found;
  found.edges.assign(picture.samples.size(), 77);  // every pixel must be overwritten
  found.thresholds.resize(detector.sub_images());
  detector.detect({picture.samples.data(), picture.width}, {found.edges.data(), picture.width},
                  found.thresholds.data());
  return found;
}

void expect_equal(const Found& a, const Found& b, int width, const std::string& what) {
  for (std::size_t i = 0; i < a.thresholds.size(); ++i) {
    ASSERT_EQ(a.thresholds[i].low, b.thresholds[i].low) << what << ", sub-image " << i;
    ASSERT_EQ(a.thresholds[i].high, b.thresholds[i].high) << what << ", sub-image " << i;
    ASSERT_EQ(a.thresholds[i].source, b.thresholds[i].source) << what << ", sub-image " << i;
  }
  for (std::size_t i = 0; i < a.edges.size(); ++i) {
    ASSERT_EQ(a.edges[i], b.edges[i]) << what << ", pixel " << i % width << "," << i / width;
  }
}

std::vector<canny::Params> settings() {
  std::vector<canny::Params> all;
  for (const auto partition : {canny::Partition::columns, canny::Partition::rows, canny::Partition::frame}) {
    for (const auto& candidates : {canny::candidates_003(), canny::candidates_001(), std::vector<int>{7, 60},
                                   std::vector<int>{1, 2, 5, 33, 99, 100}}) {
      canny::Params params;
      params.partition = partition, params.candidates = candidates;
      all.push_back(params);
    }
  }
  canny::Params fixed;
  fixed.fixed = canny::ThresholdPair{8, 19};
  all.push_back(fixed);
  fixed.fixed = canny::ThresholdPair{0, 1};
  all.push_back(fixed);
  canny::Params sharp;
  sharp.sigma_tenths = 1, sharp.noise_floor = 40;
  all.push_back(sharp);
  canny::Params dense;
  dense.density_scaling = true;
  all.push_back(dense);
  dense.partition = canny::Partition::frame;
  all.push_back(dense);
  canny::Params soft;
  soft.sigma_tenths = 20;
  all.push_back(soft);
  return all;
}

// The production form, the published form and the reference stages must agree.
void check_forms(const Gray& picture, const canny::Params& params, const std::string& what) {
  const Found shared = detect(params, picture, Form::production);
  expect_equal(shared, detect(params, picture, Form::published), picture.width, what + ", published");
  const vision::Stages stages = vision::reference_stages(vision::canny_params(params), picture.samples.data(),
                                                         picture.width, picture.width, picture.height);
  expect_equal(shared, {stages.edges, stages.thresholds}, picture.width, what + ", reference");
}

TEST(CannyDetector, BothFormsAgreeForAllSettings) {
  const Gray pictures[] = {shapes(97, 65, 1), noise(70, 41, 2), shapes(64, 100, 3)};
  for (const Gray& picture : pictures) {
    int number = 0;
    for (const canny::Params& params : settings()) {
      check_forms(picture, params, "setting " + std::to_string(number++));
    }
  }
}

TEST(CannyDetector, EverySizeFromOnePixel) {
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {2, 2},
                                      {1, 40},
                                      {40, 1},
                                      {3, 3},
                                      {2, 70},
                                      {33, 3},
                                      {31, 33},
                                      {32, 32},
                                      {65, 5},
                                      {5, 65}}) {
    for (const auto partition :
         {canny::Partition::columns, canny::Partition::rows, canny::Partition::frame}) {
      canny::Params params;
      params.partition = partition;
      const std::string what = std::to_string(width) + "x" + std::to_string(height);
      check_forms(noise(width, height, 5), params, what);
      check_forms(shapes(width, height, 6), params, what);
    }
  }
}

TEST(CannyDetector, FlatPicturesHaveNoEdges) {
  for (const int value : {0, 128, 255}) {
    const Found found = detect({}, gray(100, 50, [=](int, int) { return value; }), Form::production);
    for (const auto& thresholds : found.thresholds)
      EXPECT_EQ(thresholds.source, canny::ThresholdSource::none);
    for (const std::uint8_t edge : found.edges) ASSERT_EQ(edge, 0);
  }
}

TEST(CannyDetector, NoiseFloorSilencesNearlyFlatPictures) {
  std::mt19937 random(9);
  const Gray picture = gray(96, 64, [&](int, int) { return 100 + static_cast<int>(random() & 1); });
  const auto edges = [&](int noise_floor) {
    canny::Params params;
    params.noise_floor = noise_floor;
    int count = 0;
    for (const std::uint8_t edge : detect(params, picture, Form::production).edges) count += edge != 0;
    return count;
  };
  EXPECT_GT(edges(0), 100);
  EXPECT_EQ(edges(200), 0);
}

TEST(CannyDetector, StepEdgeIsOnePixelThickAndWhereItIs) {
  const Gray picture = gray(64, 40, [](int x, int) { return x < 30 ? 40 : 200; });
  canny::Params params;
  params.fixed = canny::ThresholdPair{10, 50};
  const Found found = detect(params, picture, Form::production);
  for (int y = 1; y < 39; ++y) {
    for (int x = 0; x < 64; ++x) ASSERT_EQ(found.edges[y * 64 + x], x == 30 ? 255 : 0) << x << "," << y;
  }
}

// A path one pixel wide that fills the 32 x 512 sub-image and is strong at one end only, so that each pass
// links one more pixel.
std::vector<std::uint8_t> serpentine(int width, int height) {
  std::vector<std::uint8_t> levels(static_cast<std::size_t>(width) * height, 0);
  for (int y = 0; y < height; y += 2) {
    for (int x = 0; x < width; ++x) levels[y * width + x] = 10;
    if (y + 1 < height) levels[(y + 1) * width + (y % 4 == 0 ? width - 1 : 0)] = 10;
  }
  levels[0] = 90;
  return levels;
}

TEST(CannyDetector, SerpentineNeedsThousandsOfPasses) {
  const std::vector<std::uint8_t> levels = serpentine(32, 512);
  const vision::LevelView view{levels.data(), 32, 32, 512};
  vision::PassHysteresis hysteresis;
  hysteresis.run(view, 5, 50);
  EXPECT_GT(hysteresis.passes(), 7000);
  for (int y = 0; y < 512; ++y) {
    for (int x = 0; x < 32; ++x) ASSERT_EQ(hysteresis.edge(x, y), levels[y * 32 + x] > 0) << x << "," << y;
  }
  // The union-find sees it at once: all lows below 10 link it, with all highs from 11 to 25.
  canny::Params params;
  params.candidates = canny::candidates_001();
  const vision::CandidateSet set = vision::canny_params(params).candidates;
  vision::LinkingForest forest;
  for (const auto& node : forest.sums(view, set)) {
    ASSERT_EQ(node.sm, node.level == 10 ? 9 * 15 : 0) << forest.x(node) << "," << forest.y(node);
  }
}

// SM by its definition, with a flood for each pair.
std::vector<int> flooded_sums(const std::vector<std::uint8_t>& levels, int width, int height,
                              const std::vector<int>& candidates) {
  std::vector<int> sums(levels.size());
  for (const int low : candidates) {
    for (const int high : candidates) {
      if (low >= high) continue;
      std::vector<char> seen(levels.size());
      std::vector<int> open;
      for (std::size_t i = 0; i < levels.size(); ++i) {
        if (levels[i] >= high) open.push_back(static_cast<int>(i)), seen[i] = 1;
      }
      while (!open.empty()) {
        const int at = open.back(), x = at % width, y = at / width;
        open.pop_back();
        if (levels[at] < high) ++sums[at];
        for (int dy = -1; dy <= 1; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) {
            const int to = at + dy * width + dx;
            if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
            if (seen[to] || levels[to] <= low) continue;
            seen[to] = 1;
            open.push_back(to);
          }
        }
      }
    }
  }
  return sums;
}

TEST(CannyDetector, LinkingSumsAreThoseOfAFloodForEachPair) {
  std::mt19937 random(11);
  vision::LinkingForest forest;
  vision::PassHysteresis hysteresis;
  for (int round = 0; round < 60; ++round) {
    const int width = 1 + static_cast<int>(random() % 70), height = 1 + static_cast<int>(random() % 40);
    const unsigned sparse = 1 + random() % 4, span = round % 2 == 0 ? 30 : 101;
    std::vector<std::uint8_t> levels(static_cast<std::size_t>(width) * height);
    for (auto& level : levels)
      level = random() % sparse == 0 ? static_cast<std::uint8_t>(random() % span) : 0;
    canny::Params params;
    if (round % 3 == 1) params.candidates = canny::candidates_001();
    if (round % 3 == 2) params.candidates = {2, 3, 17, 64, 100};
    const vision::CandidateSet set = vision::canny_params(params).candidates;
    const std::vector<int> expected = flooded_sums(levels, width, height, params.candidates);
    const vision::LevelView view{levels.data(), width, width, height};

    std::vector<int> shared(levels.size());
    for (const auto& node : forest.sums(view, set)) shared[forest.y(node) * width + forest.x(node)] = node.sm;
    std::vector<std::uint16_t> published(levels.size(), 9);
    vision::published_sums(view, set, hysteresis, published.data(), width);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      ASSERT_EQ(shared[i], expected[i]) << "round " << round << ", pixel " << i % width << "," << i / width;
      ASSERT_EQ(published[i], expected[i])
          << "round " << round << ", pixel " << i % width << "," << i / width;
    }
  }
}

TEST(CannyDetector, PitchDirectionBatchAndThreadsChangeNothing) {
  const Gray first = shapes(83, 57, 21), second = noise(83, 57, 22);
  const Found expected[] = {detect({}, first, Form::production), detect({}, second, Form::production, 3)};
  constexpr int kPitch = 101, kDistance = kPitch * 60;
  std::vector<std::uint8_t> in(2 * kDistance, 200), out(2 * kDistance, 9);
  // The input is stored bottom-up, the output top-down.
  for (int n = 0; n < 2; ++n) {
    for (int y = 0; y < 57; ++y) {
      std::copy_n((n == 0 ? first : second).samples.begin() + y * 83, 83,
                  in.begin() + n * kDistance + (56 - y) * kPitch);
    }
  }
  canny::ExecutionOptions execution;
  execution.backend = BackendChoice::cpu, execution.batch = 2, execution.threads = 2;
  canny::Detector detector({}, 83, 57, execution);
  std::vector<canny::Thresholds> thresholds(2 * detector.sub_images());
  detector.detect({in.data() + 56 * kPitch, -kPitch, kDistance, 2}, {out.data(), kPitch, kDistance},
                  thresholds.data());
  for (int n = 0; n < 2; ++n) {
    Found found;
    found.thresholds.assign(thresholds.begin() + n * 3, thresholds.begin() + n * 3 + 3);
    for (int y = 0; y < 57; ++y) {
      const auto row = out.begin() + n * kDistance + y * kPitch;
      found.edges.insert(found.edges.end(), row, row + 83);
      for (int x = 83; x < kPitch; ++x) ASSERT_EQ(row[x], 9) << "written beyond the row";
    }
    expect_equal(expected[n], found, 83, "picture " + std::to_string(n));
  }
}

TEST(CannyDetector, BadArgumentsAreRefused) {
  const auto refused = [](const canny::Params& params, int width, int height,
                          canny::ExecutionOptions execution = {}) {
    try {
      canny::Detector detector(params, width, height, execution);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused({}, 0, 10));
  EXPECT_TRUE(refused({}, 10, 16385));
  canny::Params params;
  for (const int sigma : {0, 21, -4}) {
    params.sigma_tenths = sigma;
    EXPECT_TRUE(refused(params, 10, 10)) << sigma;
  }
  for (const auto& candidates : {std::vector<int>{}, {5}, {5, 5}, {9, 3}, {0, 4}, {5, 101}}) {
    params = {};
    params.candidates = candidates;
    EXPECT_TRUE(refused(params, 10, 10));
  }
  for (const auto& pair : {canny::ThresholdPair{5, 4}, {-1, 4}, {0, 0}, {5, 101}}) {
    params = {};
    params.fixed = pair;
    EXPECT_TRUE(refused(params, 10, 10));
  }
  canny::ExecutionOptions execution;
  execution.batch = 0;
  EXPECT_TRUE(refused({}, 10, 10, execution));

  execution = {};
  execution.backend = BackendChoice::cpu;
  canny::Detector detector({}, 10, 10, execution);
  std::vector<std::uint8_t> plane(100);
  EXPECT_THROW(detector.detect({nullptr, 10}, {plane.data(), 10}), Error);
  EXPECT_THROW(detector.detect({plane.data(), 9}, {plane.data(), 10}), Error);
  EXPECT_THROW(detector.detect({plane.data(), 10, 0, 2}, {plane.data(), 10}), Error);
  EXPECT_THROW(detector.detect({plane.data(), 10}, {plane.data(), 10}, nullptr, MemoryKind::device), Error);
}

}  // namespace
}  // namespace cu264
