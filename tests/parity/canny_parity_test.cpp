// GUD-Canny: the device's two forms against the host's plainest one, stage by stage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cu264/canny.h"
#include "tests/parity/canny_device.h"
#include "tests/parity/device_runner.h"
#include "vision/backend.h"
#include "vision/cpu/pass_hysteresis.h"
#include "vision/gaussian.h"

namespace cu264::parity {
namespace {

using namespace vision;
using vision::cuda::Labelling;

CandidateSet candidates(std::vector<int> levels) {
  canny::Params params;
  params.candidates = std::move(levels);
  return canny_params(params).candidates;
}

CannyParams with(const std::vector<int>& levels, Partition partition, int sigma_tenths = 14) {
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

GrayPicture flat(int width, int height, int value) {
  return {
      width, height,
      std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height, static_cast<std::uint8_t>(value))};
}

GrayPicture noise(int width, int height, unsigned seed) {
  GrayPicture picture = flat(width, height, 0);
  std::mt19937 random(seed);
  for (std::uint8_t& sample : picture.samples) sample = static_cast<std::uint8_t>(random());
  return picture;
}

// Discs of all contrasts over a ramp, with a little noise: edges of every strength and direction.
GrayPicture discs(int width, int height, unsigned seed) {
  GrayPicture picture = flat(width, height, 0);
  std::mt19937 random(seed);
  std::vector<double> level(picture.samples.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) level[static_cast<std::size_t>(y) * width + x] = 60.0 + 60.0 * x / width;
  }
  for (int disc = 0; disc < 4 + width * height / 2000; ++disc) {
    const int cx = static_cast<int>(random() % width), cy = static_cast<int>(random() % height);
    const int radius = 2 + static_cast<int>(random() % 40);
    const double step = static_cast<double>(random() % 121) - 60.0;
    for (int y = std::max(0, cy - radius); y < std::min(height, cy + radius); ++y) {
      for (int x = std::max(0, cx - radius); x < std::min(width, cx + radius); ++x) {
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius) {
          level[static_cast<std::size_t>(y) * width + x] += step;
        }
      }
    }
  }
  for (std::size_t i = 0; i < level.size(); ++i) {
    picture.samples[i] =
        static_cast<std::uint8_t>(std::clamp(level[i] + static_cast<int>(random() % 5), 0.0, 255.0));
  }
  return picture;
}

// Levels: one path through a column of 32 x `height`, row by row to and fro, strong at its beginning only.
GrayPicture serpentine(int height) {
  GrayPicture levels = flat(32, height, 0);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < 32; ++x) {
      const bool turn = y % 4 == 1 ? x == 31 : y % 4 == 3 && x == 0;
      if (y % 2 == 0 || turn) levels.samples[static_cast<std::size_t>(y) * 32 + x] = 5;
    }
  }
  levels.samples[0] = 30;
  return levels;
}

GrayPicture random_levels(int width, int height, int percent, int most, unsigned seed) {
  GrayPicture levels = flat(width, height, 0);
  std::mt19937 random(seed);
  for (std::uint8_t& level : levels.samples) {
    if (static_cast<int>(random() % 100) < percent) level = static_cast<std::uint8_t>(1 + random() % most);
  }
  return levels;
}

std::string text(const CannyParams& params, int width, int height) {
  std::ostringstream out;
  out << width << 'x' << height << " sigma " << params.sigma_tenths << " partition "
      << static_cast<int>(params.partition) << " candidates " << params.candidates.count;
  if (params.fixed) out << " fixed " << int{params.fixed_low} << ' ' << int{params.fixed_high};
  return out.str();
}

template <class T>
void expect_pixels(const char* stage, const std::vector<T>& expected, const std::vector<T>& found,
                   int width) {
  ASSERT_EQ(expected.size(), found.size()) << stage;
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

// Every stage that `found` holds.
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
    expect_counts(expected.pooled, found.pooled, "pooled");
  }
  if (!found.counts.empty()) {
    ASSERT_EQ(expected.counts.size(), found.counts.size());
    for (std::size_t s = 0; s < expected.counts.size(); ++s) {
      expect_counts(expected.counts[s], found.counts[s], "sub-image " + std::to_string(s));
    }
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

Stages on_host(const CannyParams& params, const GrayPicture& picture) {
  return reference_stages(params, picture.samples.data(), picture.width, picture.width, picture.height);
}

class CannyParity : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_no_device();
    if (!reason.empty()) GTEST_SKIP() << "no usable CUDA device: " << reason;
  }

  // All forms, labels in shared and in global memory.
  void expect_parity(const CannyParams& params, const GrayPicture& picture, const Placement& placement = {}) {
    SCOPED_TRACE(text(params, picture.width, picture.height));
    const Stages expected = on_host(params, picture);
    for (const Labelling labelling : {Labelling::automatic, Labelling::global}) {
      SCOPED_TRACE(labelling == Labelling::global ? "production, global labels" : "production");
      expect_same(expected, production_stages(params, {picture}, labelling, placement)[0]);
      if (HasFatalFailure()) return;
    }
    SCOPED_TRACE("published");
    expect_same(expected, published_stages(params, picture, placement));
  }
};

const Partition kPartitions[] = {Partition::columns, Partition::rows, Partition::frame};

TEST_F(CannyParity, AllSetsAndPartitions) {
  const GrayPicture picture = discs(150, 117, 1);
  for (const Partition partition : kPartitions) {
    for (const std::vector<int>& set :
         {canny::candidates_003(), canny::candidates_001(), std::vector<int>{5, 40},
          std::vector<int>{1, 2, 33, 64, 65, 99, 100}}) {
      expect_parity(with(set, partition), picture);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CannyParity, MostCandidates) {
  std::vector<int> set;
  for (int level = 1; level <= kMostCandidates; ++level) set.push_back(level);
  for (const Partition partition : kPartitions) {
    expect_parity(with(set, partition), discs(97, 80, 2));
    expect_parity(with(set, partition), noise(70, 61, 3));
  }
}

TEST_F(CannyParity, AllSigmas) {
  const GrayPicture picture = discs(101, 75, 4);
  for (int sigma = 1; sigma <= kSigmaSteps; ++sigma) {
    expect_parity(with(canny::candidates_003(), Partition::columns, sigma), picture);
    if (HasFatalFailure()) return;
  }
}

TEST_F(CannyParity, OddSizes) {
  const int sizes[][2] = {{1, 1},   {2, 2},   {3, 3},   {1, 50},  {50, 1},  {31, 33},  {32, 32},
                          {33, 31}, {64, 16}, {65, 17}, {129, 2}, {2, 129}, {1, 1100}, {1100, 1}};
  for (const auto& size : sizes) {
    for (const Partition partition : kPartitions) {
      expect_parity(with(canny::candidates_003(), partition), discs(size[0], size[1], 5));
      expect_parity(with(canny::candidates_003(), partition), noise(size[0], size[1], 6));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CannyParity, FlatAndNoise) {
  for (const Partition partition : kPartitions) {
    expect_parity(with(canny::candidates_001(), partition), flat(100, 70, 128));
    expect_parity(with(canny::candidates_001(), partition), noise(100, 70, 7));
    expect_parity(with(canny::candidates_003(), partition, 1), noise(100, 70, 8));
    if (HasFatalFailure()) return;
  }
}

TEST_F(CannyParity, NoiseFloor) {
  CannyParams params = with(canny::candidates_003(), Partition::columns);
  for (const int floor : {1, 40, 5760}) {
    params.noise_floor = floor;
    expect_parity(params, discs(90, 90, 9));
  }
}

TEST_F(CannyParity, DensityScaling) {
  for (const Partition partition : kPartitions) {
    CannyParams params = with(canny::candidates_003(), partition);
    params.density_scaling = true;
    // Crowded, sparse and empty: scaled up, down and not at all.
    expect_parity(params, noise(150, 70, 31));
    expect_parity(params, discs(333, 111, 32));
    expect_parity(params, flat(70, 40, 9));
    if (HasFatalFailure()) return;
  }
}

TEST_F(CannyParity, FixedThresholds) {
  const int pairs[][2] = {{8, 19}, {0, 1}, {30, 30}, {99, 100}, {0, 100}};
  for (const auto& pair : pairs) {
    expect_parity(fixed_params(pair[0], pair[1]), discs(150, 90, 10));
    expect_parity(fixed_params(pair[0], pair[1]), noise(75, 60, 11));
  }
}

TEST_F(CannyParity, Placements) {
  const Placement placements[] = {{1, 0, false}, {3, 5, false}, {0, 32, true}, {7, 9, true}, {0, 10, false}};
  for (const Placement& placement : placements) {
    expect_parity(with(canny::candidates_003(), Partition::columns), discs(86, 60, 12), placement);
    expect_parity(with(canny::candidates_003(), Partition::rows), discs(96, 60, 13), placement);
  }
}

// More than one word a thread, and more than shared memory holds.
TEST_F(CannyParity, TallAndWide) {
  for (const int length : {1030, 2100, 3100, 4000}) {
    expect_parity(with(canny::candidates_003(), Partition::columns), discs(40, length, 14));
    expect_parity(with(canny::candidates_003(), Partition::rows), discs(length, 40, 15));
    if (HasFatalFailure()) return;
  }
  expect_parity(with(canny::candidates_003(), Partition::frame), discs(700, 300, 16));
}

TEST_F(CannyParity, BatchesAndRepeats) {
  std::vector<GrayPicture> pictures;
  for (unsigned i = 0; i < 9; ++i) pictures.push_back(i % 3 == 2 ? noise(130, 97, i) : discs(130, 97, i));
  pictures.push_back(flat(130, 97, 3));
  for (const Partition partition : kPartitions) {
    const CannyParams params = with(canny::candidates_001(), partition);
    std::vector<Stages> expected;
    for (const GrayPicture& picture : pictures) expected.push_back(on_host(params, picture));
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const Labelling labelling : {Labelling::automatic, Labelling::global}) {
        const std::vector<Stages> found = production_stages(params, pictures, labelling);
        for (std::size_t i = 0; i < pictures.size(); ++i) {
          SCOPED_TRACE("picture " + std::to_string(i) + " repeat " + std::to_string(repeat));
          expect_same(expected[i], found[i]);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Through the public API, from host memory.
TEST_F(CannyParity, Detectors) {
  const int width = 203, height = 91, pitch = 211, count = 3;
  const GrayPicture tall = discs(pitch, height * count, 17);
  for (const canny::Form form : {canny::Form::shared, canny::Form::published}) {
    for (const bool bottom_up : {false, true}) {
      canny::Params params;
      params.form = form;
      const canny::Pictures pictures{tall.samples.data() + (bottom_up ? (height - 1) * pitch : 0),
                                     bottom_up ? -pitch : pitch, height * pitch, count};
      std::vector<std::uint8_t> edges[2];
      std::vector<canny::Thresholds> thresholds[2];
      const BackendChoice backends[] = {BackendChoice::cpu, BackendChoice::cuda};
      for (int b = 0; b < 2; ++b) {
        canny::Machine machine;
        machine.backend = backends[b];
        machine.batch = count;
        canny::Detector detector(params, width, height, machine);
        edges[b].assign(static_cast<std::size_t>(width) * height * count, 1);
        thresholds[b].resize(static_cast<std::size_t>(detector.sub_images()) * count);
        for (int repeat = 0; repeat < 2; ++repeat) {
          detector.detect(pictures, {edges[b].data(), width, static_cast<std::ptrdiff_t>(width) * height},
                          thresholds[b].data());
        }
      }
      expect_pixels("edges", edges[0], edges[1], width);
      for (std::size_t i = 0; i < thresholds[0].size(); ++i) {
        ASSERT_EQ(int{thresholds[0][i].low}, int{thresholds[1][i].low}) << i;
        ASSERT_EQ(int{thresholds[0][i].high}, int{thresholds[1][i].high}) << i;
        ASSERT_EQ(static_cast<int>(thresholds[0][i].source), static_cast<int>(thresholds[1][i].source)) << i;
      }
    }
  }
}

// From levels on.
Stages linked_on_host(const CannyParams& params, const GrayPicture& levels) {
  const SubImages all = sub_images(levels.width, levels.height, params.partition);
  Stages stages;
  stages.width = levels.width, stages.height = levels.height;
  stages.sm.assign(levels.samples.size(), 0);
  stages.counts.resize(static_cast<std::size_t>(all.count));
  stages.thresholds.resize(static_cast<std::size_t>(all.count));
  stages.edges.assign(levels.samples.size(), 0);
  PassHysteresis hysteresis;
  const int highest = highest_candidate(params.candidates), pairs = pair_count(params.candidates);
  LevelCounts pooled;
  for (int s = 0; s < all.count && !params.fixed; ++s) {
    const Rectangle r = sub_image(all, s);
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
  for (int s = 0; s < all.count; ++s) {
    Thresholds& thresholds = stages.thresholds[static_cast<std::size_t>(s)];
    thresholds = params.fixed
                     ? Thresholds{params.fixed_low, params.fixed_high, ThresholdSource::fixed, 0}
                     : sub_image_thresholds(stages.counts[static_cast<std::size_t>(s)], fallback, highest);
    const Rectangle r = sub_image(all, s);
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

TEST_F(CannyParity, Serpentine) {
  const GrayPicture levels = serpentine(512);
  PassHysteresis hysteresis;
  hysteresis.run({levels.samples.data(), 32, 32, 512}, 4, 30);
  ASSERT_GT(hysteresis.passes(), 7900) << "the path is not as long as it should be";
  for (const Partition partition : kPartitions) {
    expect_link_parity(with(canny::candidates_003(), partition), levels);
    CannyParams plain = fixed_params(4, 30);
    expect_link_parity(plain, levels);
  }
}

TEST_F(CannyParity, RandomLevels) {
  unsigned seed = 20;
  for (const int percent : {3, 20, 45, 60, 100}) {
    for (const int most : {4, 27, 100}) {
      for (const Partition partition : kPartitions) {
        expect_link_parity(with(canny::candidates_001(), partition),
                           random_levels(100, 67, percent, most, ++seed));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Photographs: dense binary PGM files anywhere below the test data's folder.
GrayPicture read_pgm(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int width = 0, height = 0, most = 0;
  file >> magic >> width >> height >> most;
  file.get();
  if (!file || magic != "P5" || most != 255) throw std::runtime_error(path.string() + ": not an 8-bit PGM");
  GrayPicture picture = flat(width, height, 0);
  file.read(reinterpret_cast<char*>(picture.samples.data()),
            static_cast<std::streamsize>(picture.samples.size()));
  return picture;
}

TEST_F(CannyParity, Photographs) {
  const char* const folder = std::getenv("CU264_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "CU264_TEST_DATA is not set";
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".pgm") paths.push_back(entry.path());
  }
  if (paths.empty()) GTEST_SKIP() << "no .pgm file below " << folder;
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    SCOPED_TRACE(path.string());
    const GrayPicture picture = read_pgm(path);
    for (const Partition partition : kPartitions) {
      expect_parity(with(canny::candidates_003(), partition), picture);
      if (partition == Partition::columns) expect_parity(with(canny::candidates_001(), partition), picture);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
