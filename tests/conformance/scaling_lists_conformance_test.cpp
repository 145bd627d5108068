// Streams with scaling lists: the defaults of the standard, and lists that are as far from flat as they may
// be.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/conformance/stream_check.h"
#include "tests/support/made_scaling_lists.h"
#include "tests/support/quick.h"

namespace cu264::test {
namespace {

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
