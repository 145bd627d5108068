// Streams with scaling lists: the defaults of the standard, and lists that are as far from flat as they may
// be.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <tuple>

#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

enum class Lists { jvt, ones, largest, steep, falling, by_plane, random };
constexpr Lists kLists[] = {Lists::jvt,     Lists::ones,     Lists::largest, Lists::steep,
                            Lists::falling, Lists::by_plane, Lists::random};
const char* name_of_lists(Lists lists) {
  static constexpr const char* names[] = {"jvt", "ones", "largest", "steep", "falling", "by_plane", "random"};
  return names[static_cast<int>(lists)];
}

// Fills a list with what `weight` gives for a frequency of 0 to 1.
template <std::size_t size, class Weight>
void fill(std::array<std::uint8_t, size>& list, const Weight& weight) {
  constexpr std::size_t side = size == 16 ? 4 : 8;
  for (std::size_t i = 0; i < size; ++i) {
    const double frequency = static_cast<double>(i % side + 2 * (i / side)) / (3 * (side - 1));
    list[i] = static_cast<std::uint8_t>(weight(frequency));  // not symmetric
  }
}

template <class Weight>
void fill_all(ScalingLists& lists, const Weight& weight) {
  fill(lists.luma4x4, weight), fill(lists.cb4x4, weight), fill(lists.cr4x4, weight);
  fill(lists.luma8x8, weight);
}

ScalingLists make_lists(Lists kind) {
  ScalingLists lists = jvt_scaling_lists();
  const auto flat = [](int weight) { return [weight](double) { return weight; }; };
  std::mt19937 random(5);
  switch (kind) {
    case Lists::jvt:
      break;
    case Lists::ones:
      fill_all(lists, flat(1));
      break;
    case Lists::largest:
      fill_all(lists, flat(255));
      break;
    case Lists::steep:
      fill_all(lists, [](double frequency) { return 1 + 254 * frequency; });
      break;
    case Lists::falling:
      fill_all(lists, [](double frequency) { return 255 - 254 * frequency; });
      break;
    case Lists::by_plane:  // the luma list is the default, and each other one is different
      fill(lists.cb4x4, flat(3)), fill(lists.cr4x4, flat(40)), fill(lists.luma8x8, flat(9));
      break;
    case Lists::random:
      fill_all(lists, [&](double) { return random() % 3 == 0 ? 1 + random() % 3 : 1 + random() % 255; });
      break;
  }
  return lists;
}

// Blocks of black and white that the prediction seldom foresees: levels and values of the inverse transforms
// are as large as they become.
Picture extreme_picture(int width, int height, unsigned seed) {
  Picture picture(width, height);
  std::mt19937 random(seed);
  for (int p = 0; p < 3; ++p) {
    const int plane_width = picture.plane_width(p);
    for (int y = 0; y < picture.plane_height(p); ++y) {
      for (int x = 0; x < plane_width; ++x) {
        const unsigned block = static_cast<unsigned>(x / 4 + 31 * (y / 4) + 7 * p) * 2654435761u >> 16;
        const bool white = block % 5 == 0   ? (x + y) % 2 != 0
                           : block % 5 == 1 ? x % 2 != 0
                           : block % 5 == 2 ? y % 4 > 1
                           : block % 5 == 3 ? block % 2 != 0
                                            : random() % 2 != 0;
        picture.plane(p)[y * plane_width + x] = white ? 255 : 0;
      }
    }
  }
  return picture;
}

using Search = std::tuple<Preset, bool>;  // and whether CAVLC codes

Config config_with(Lists lists, int qp, Search search) {
  Config config = make_config(qp, std::get<0>(search), 1 + qp % 3, qp % 2 == 0);
  config.profile = Profile::high;
  config.cavlc = std::get<1>(search);
  config.scaling_lists = make_lists(lists);
  if (qp % 4 == 1) config.aq = AdaptiveQuantisation::variance;
  return config;
}

class ScalingListStreams : public testing::TestWithParam<Search> {};

// All lists at every QP, in turn with slices, adaptive quantisation and without the loop filter.
TEST_P(ScalingListStreams, DecodeToTheReconstruction) {
  for (const Lists lists : kLists) {
    int pcm = 0, coded = 0;
    for (int qp = 0; qp <= 51; ++qp) {
      if (quick() && qp % 2 != static_cast<int>(lists) % 2) continue;
      SCOPED_TRACE(std::string(name_of_lists(lists)) + ", QP " + std::to_string(qp));
      std::vector<Picture> pictures = {make_picture(Content::natural, 64, 48),
                                       make_picture(Content::graded_noise, 64, 48, 3),
                                       extreme_picture(64, 48, static_cast<unsigned>(qp))};
      const Config config = config_with(lists, qp, GetParam());
      for (const WalkedPicture& picture : check_stream(config, encode(config, pictures), pictures).pictures)
        pcm += picture.pcm_mbs, coded += 12 - picture.pcm_mbs;
    }
    // Where rate decides, I_PCM beats steps that are much coarser than the QP's lambda expects.
    EXPECT_GT(4 * coded, pcm) << name_of_lists(lists) << ": nearly everything is I_PCM";
  }
}

// With the weight 1 everywhere a picture has a sixteenth of the step, as with a QP that is lower by 24. (The
// presets that decide by rate leave out what is not worth its bits at the QP.)
TEST(ScalingListQuantiser, TheErrorFollowsTheWeights) {
  const std::vector<Picture> pictures = make_all_contents(64, 48);
  for (int qp = 24; qp <= 51; qp += 3) {
    Config config = make_config(qp, Preset::fast, 1, false);
    config.profile = Profile::high;
    config.scaling_lists = make_lists(Lists::ones);
    const EncodedStream stream = encode(config, pictures);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      EXPECT_LE(worst_squared_error(pictures[i], reconstruction_of(stream, i)), squared_error_bound(qp - 24))
          << "QP " << qp << ", picture " << i;
    }
  }
}

std::string search_name(const testing::TestParamInfo<Search>& info) {
  return std::string(name_of(std::get<0>(info.param))) + (std::get<1>(info.param) ? "_cavlc" : "_cabac");
}

INSTANTIATE_TEST_SUITE_P(Presets, ScalingListStreams,
                         testing::Combine(testing::ValuesIn(kPresets), testing::Bool()), search_name);

}  // namespace
}  // namespace cu264::test
