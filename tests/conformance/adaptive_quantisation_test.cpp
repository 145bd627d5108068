// Macroblocks of different QPs: streams decode to the reconstruction for every content, preset, number of
// slices and end of the QP range, and the QPs in them are those that adaptive quantisation asked for.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

struct Mode {
  const char* name;
  const char* value;
};
constexpr Mode kModes[] = {
    {"edge-guided", "1"}, {"edge-guided", "2"}, {"edge-guided", "3"}, {"aq", "variance"}, {"aq", "steps"}};

using Cell = std::tuple<Preset, int>;
class AdaptiveQuantised : public testing::TestWithParam<Cell> {};

TEST_P(AdaptiveQuantised, DecodesToTheReconstruction) {
  const auto [preset, slices] = GetParam();
  const std::vector<Picture> pictures = make_all_contents(80, 66);  // 5 x 5 macroblocks, padded below
  QuickCases cases(3);
  for (const Mode& mode : kModes) {
    for (const int qp : {0, 1, 6, 14, 27, 40, 50, 51}) {
      if (cases.leave_out()) continue;
      SCOPED_TRACE(std::string(mode.name) + " " + mode.value + ", QP " + std::to_string(qp));
      Config config = make_config(qp, preset, slices);
      config.set(mode.name, mode.value);
      check_stream(config, encode(config, pictures), pictures);
    }
  }
}

std::string cell_name(const testing::TestParamInfo<Cell>& cell) {
  return std::string(name_of(std::get<0>(cell.param))) + "_" + std::to_string(std::get<1>(cell.param));
}

INSTANTIATE_TEST_SUITE_P(AdaptiveQuantised, AdaptiveQuantised,
                         testing::Combine(testing::ValuesIn(kPresets), testing::Values(1, 2, 5)), cell_name);

TEST(AdaptiveQuantisationStream, HoldsManyQps) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 176, 144)};
  Config config = make_config(27, Preset::fast);
  const auto qps = [&] {
    std::set<int> found;
    walk_stream(encode(config, pictures).bytes(), [&](const WalkedMacroblock& mb) { found.insert(mb.qp); });
    return found;
  };
  const std::set<int> plain = qps();
  config.set("edge-guided", "2");
  const std::set<int> adaptive = qps();
  EXPECT_EQ(plain.size(), 1u);
  EXPECT_GT(adaptive.size(), 4u);
}

TEST(AdaptiveQuantisationStream, OffIsWhatItWas) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 96, 80)};
  Config config = make_config(27, Preset::balanced);
  const auto plain = encode(config, pictures).bytes();
  config.set("edge-guided", "0");
  config.set("aq", "off");
  EXPECT_EQ(encode(config, pictures).bytes(), plain);
}

TEST(AdaptiveQuantisationStream, ThreadsDoNotChangeTheBytes) {
  std::vector<Picture> pictures;
  for (std::uint32_t i = 0; i < 12; ++i) pictures.push_back(make_picture(Content::natural, 112, 96, i));
  for (const Mode& mode : kModes) {
    Config config = make_config(30, Preset::fast, 2);
    config.set(mode.name, mode.value);
    config.threads = 1;
    const auto one = encode(config, pictures).bytes();
    config.threads = 0;
    EXPECT_EQ(encode(config, pictures).bytes(), one) << mode.name;
  }
}

// The macroblocks of a flat picture are all alike: they get no offsets, and no bits are spent on them.
TEST(AdaptiveQuantisationStream, FlatPicturesAreCodedAsWithout) {
  const std::vector<Picture> pictures = {make_picture(Content::flat128, 64, 64)};
  Config config = make_config(27, Preset::balanced);
  const auto plain = encode(config, pictures).packets[0].stats;
  for (const Mode& mode : kModes) {
    Config guided = config;
    guided.set(mode.name, mode.value);
    const auto adaptive = encode(guided, pictures).packets[0].stats;
    EXPECT_EQ(plain.header_bits, adaptive.header_bits) << mode.value;
    EXPECT_EQ(plain.residual_bits, adaptive.residual_bits) << mode.value;
  }
}

// The left half has steps in the middle of macroblocks and between them, one strong and the others of 6 to 36
// grey levels; the right half has slow ramps over 30. Canny keeps the steps and drops the ramps.
Picture steps_and_ramps() {
  Picture picture = make_picture(Content::flat128, 128, 64);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 128; ++x) {
      const int at = x % 16, half_step = 3 + y / 4;
      const int step = x < 16 && y < 16 ? (at < 8 ? 10 : 245) : (at < 8 ? 100 - half_step : 100 + half_step);
      const int ramp = x / 16 % 2 == 0 ? 80 + 2 * at : 110 - 2 * at;
      picture.samples[static_cast<std::size_t>(y * 128 + x)] =
          static_cast<std::uint8_t>(x < 64 ? step : ramp);
    }
  }
  return picture;
}

// The QPs that the stream has, [mb].
std::vector<int> qps_of(const Config& config, const Picture& picture) {
  std::vector<int> qps;
  walk_stream(encode(config, {picture}).bytes(), [&](const WalkedMacroblock& mb) { qps.push_back(mb.qp); });
  return qps;
}

double mean_of(const std::vector<int>& qps, int first_column) {
  int sum = 0;
  for (std::size_t mb = 0; mb < qps.size(); ++mb) {
    if (static_cast<int>(mb % 8) / 4 * 4 == first_column) sum += qps[mb];
  }
  return 2.0 * sum / static_cast<double>(qps.size());
}

// The guide is the edge map: macroblocks with edges get a lower QP than those of a ramp of the same variance,
// which Canny does not keep; and thresholds that find hardly an edge leave the offsets to the variance.
TEST(AdaptiveQuantisationStream, EdgesOfTheMapGetTheBits) {
  const Picture picture = steps_and_ramps();
  Config config = make_config(27, Preset::fast);
  config.aq = AdaptiveQuantisation::edges;
  config.edge_maps = true;
  const auto map = encode(config, {picture}).packets[0].edges;
  ASSERT_EQ(map, canny::detect({}, picture.samples.data(), 128, 128, 64));
  const auto edges_in = [&](int left, int right) {
    int edges = 0;
    for (int y = 0; y < 64; ++y)
      for (int x = left; x < right; ++x) edges += map[static_cast<std::size_t>(y * 128 + x)] == 255;
    return edges;
  };
  ASSERT_GT(edges_in(0, 64), 3 * 60);
  ASSERT_EQ(edges_in(72, 128), 0);
  const std::vector<int> guided = qps_of(config, picture);
  Config none = config;
  none.set("edge-thresholds", "1,1");  // only the strongest gradients of all
  const std::vector<int> unguided = qps_of(none, picture);
  EXPECT_LT(mean_of(guided, 0), mean_of(guided, 4) - 2);
  EXPECT_GT(mean_of(unguided, 0), mean_of(unguided, 4) - 1);
}

// What guides is what the detector finds in the frame, whatever the size, the thresholds and the threads.
TEST(AdaptiveQuantisationStream, MapsAreTheDetectors) {
  for (const auto& [width, height] : {std::pair{100, 70}, {33, 17}, {1, 1}, {176, 144}}) {
    for (const char* const thresholds : {"distributed", "rows", "frame-0.01", "0.08,0.19"}) {
      for (const int threads : {1, 3}) {
        Config config = make_config(30, Preset::fast);
        config.set("edge-guided", "1"), config.set("edge-thresholds", thresholds);
        config.edge_maps = true, config.threads = threads;
        std::vector<Picture> pictures;
        for (std::uint32_t i = 0; i < 5; ++i)
          pictures.push_back(make_picture(i % 2 == 0 ? Content::natural : Content::text, width, height, i));
        const EncodedStream stream = encode(config, pictures);
        for (std::size_t i = 0; i < pictures.size(); ++i) {
          EXPECT_EQ(stream.packets[i].edges,
                    canny::detect(config.edge_detector, pictures[i].samples.data(), width, width, height))
              << width << "x" << height << ' ' << thresholds << ", picture " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cu264::test
