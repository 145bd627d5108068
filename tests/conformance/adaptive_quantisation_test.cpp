// Macroblocks of different QP: streams decode to the reconstruction, whatever the content, the preset, the
// slices and the end of the QP range, and the QPs in them are what adaptive quantisation asked for.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/stream_check.h"

namespace cu264::test {
namespace {

struct Mode {
  const char* name;
  const char* value;
};
constexpr Mode kModes[] = {
    {"edge-guided", "1"}, {"edge-guided", "2"}, {"edge-guided", "3"}, {"aq", "variance"}};

using Cell = std::tuple<Preset, int>;
class AdaptiveQuantised : public testing::TestWithParam<Cell> {};

TEST_P(AdaptiveQuantised, DecodesToTheReconstruction) {
  const auto [preset, slices] = GetParam();
  const std::vector<Picture> pictures = make_all_contents(80, 66);  // 5 x 5 macroblocks, padded below
  for (const Mode& mode : kModes) {
    for (const int qp : {0, 1, 6, 14, 27, 40, 50, 51}) {
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
  const std::set<int> guided = qps();
  EXPECT_EQ(plain.size(), 1u);
  EXPECT_GT(guided.size(), 4u);
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

// A flat picture has nothing to tell its macroblocks apart: no offset, no bit spent.
TEST(AdaptiveQuantisationStream, FlatPicturesAreCodedAsWithout) {
  const std::vector<Picture> pictures = {make_picture(Content::flat128, 64, 64)};
  Config config = make_config(27, Preset::balanced);
  const auto plain = encode(config, pictures).packets[0].stats;
  config.set("edge-guided", "3");
  const auto guided = encode(config, pictures).packets[0].stats;
  EXPECT_EQ(plain.header_bits, guided.header_bits);
  EXPECT_EQ(plain.residual_bits, guided.residual_bits);
}

}  // namespace
}  // namespace cu264::test
