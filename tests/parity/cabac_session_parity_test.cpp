// Whole sessions with CABAC: the packets of the CUDA backend are those of the CPU backend, byte for byte.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cu264/device.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/stream_params.h"
#include "tests/parity/session_checks.h"
#include "tests/support/mixed_pictures.h"

namespace cu264::parity {
namespace {

using test::Content;

class CabacSessionParity : public SessionParity {
 protected:
  static Config config_of(Preset preset, int slices) {
    Config config;
    config.profile = Profile::main;
    config.preset = preset, config.slices = slices;
    return config;
  }
};

// A little of everything, for tools that slow the device down a hundredfold.
TEST_F(CabacSessionParity, SmallCase) {
  const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 50, 35),
                                               test::make_picture(Content::noise, 50, 35),
                                               test::make_picture(Content::text, 50, 35)};
  for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
    Config config = config_of(preset, 2);
    config.qp = 20, config.reconstruction = true;
    expect_parity(config, pictures, {2});
    config.input_format = PixelFormat::rgb24, config.qp = 0;
    expect_parity(config, pictures, {3});
    if (HasFatalFailure()) return;
  }
}

// More batches than are in flight, the last of them incomplete.
TEST_F(CabacSessionParity, ManySmallBatches) {
  for (const int slices : {1, 3}) {
    Config config = config_of(Preset::fast, slices);
    config.qp = 12;
    config.set("aq", "variance");
    expect_parity(config, clip(13, 32, 48), {1, 2});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CabacSessionParity, Batches) {
  expect_parity(config_of(Preset::fast, 2), clip(150, 96, 80), {0, 1, 3, 64});
}

TEST_F(CabacSessionParity, EveryQp) {
  const std::vector<test::Picture> pictures = test::make_all_contents(40, 24);
  Config config = config_of(Preset::fast, 1);
  for (config.qp = 0; config.qp < 52; ++config.qp) {
    expect_parity(config, pictures, {7});
    if (HasFatalFailure()) return;
  }
}

TEST_F(CabacSessionParity, PresetsAndContents) {
  for (const int qp : {0, 10, 20, 27, 35, 51}) {
    for (const Preset preset : {Preset::fast, Preset::balanced, Preset::best}) {
      Config config = config_of(preset, 3);
      config.qp = qp, config.reconstruction = qp == 27;
      expect_parity(config, test::make_all_contents(176, 144), {16});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CabacSessionParity, Sizes) {
  const int sizes[][2] = {{1, 1}, {17, 33}, {8192, 16}, {16, 8192}, {1919, 1079}};
  for (const auto& [width, height] : sizes) {
    expect_parity(config_of(Preset::fast, 1),
                  {test::make_picture(Content::natural, width, height),
                   test::make_picture(Content::noise, width, height)},
                  {1, 2});
    if (HasFatalFailure()) return;
  }
}

// Many times the items of ordinary pictures, and I_PCM.
TEST_F(CabacSessionParity, NoiseAtFineQuantisers) {
  for (const int qp : {0, 6}) {
    Config config = config_of(Preset::fast, 2);
    config.qp = qp;
    std::vector<test::Picture> pictures;
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      pictures.push_back(test::make_picture(Content::noise, 80, 64, seed));
    }
    expect_parity(config, pictures, {1, 4});
  }
}

// Batches of few items follow batches of many, and the reverse.
TEST_F(CabacSessionParity, BatchesOfFewItemsAndOfMany) {
  Config config = config_of(Preset::fast, 2);
  for (const int qp : {10, 26}) {
    config.qp = qp;
    std::vector<test::Picture> pictures;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      const bool dense = seed < 12 || seed >= 52;
      pictures.push_back(test::make_picture(dense ? Content::noise : Content::natural, 32, 32, seed));
    }
    expect_parity(config, pictures, {2});
    if (HasFatalFailure()) return;
  }
}

// The stream of a single picture is fetched together with its size, as many bytes as the previous picture
// makes likely. Here that guess is wrong.
TEST_F(CabacSessionParity, SinglePicturesOfChangingSize) {
  Config config = config_of(Preset::fast, 1);
  config.qp = 20;
  std::vector<test::Picture> pictures;
  for (std::uint32_t seed = 0; seed < 9; ++seed) {
    pictures.push_back(test::make_picture(seed % 4 < 2 ? Content::flat128 : Content::noise, 48, 32, seed));
  }
  expect_parity(config, pictures, {1});
}

TEST_F(CabacSessionParity, PicturesOfDifferentQpsAndStreams) {
  Config config = config_of(Preset::fast, 2);
  config.reconstruction = true;
  config.set("aq", "variance");
  const std::vector<test::MixedPicture> pictures = test::mixed_pictures(9, 50, 40, 3, 1);
  config.width = pictures[0].picture.width, config.height = pictures[0].picture.height;
  encoder::StreamParams params = encoder::stream_params(config);
  params.execution.streams = 3;
  const std::vector<encoder::CodedAccessUnit> alone = test::code_alone(params, pictures);
  for (const int batch : {1, 4}) {
    const auto backend = encoder::cuda::open_devices(params, {0}, batch);
    ASSERT_EQ(test::difference(alone, test::code_together(*backend, pictures), pictures), "") << batch;
  }
}

// A backend that changes between the entropy coders where its memory allows.
TEST_F(CabacSessionParity, RestartsWithTheOtherCoder) {
  const std::vector<test::MixedPicture> pictures = test::mixed_pictures(5, 64, 64, 1, 2);
  Config config = config_of(Preset::fast, 1);
  config.width = config.height = 64;
  const encoder::StreamParams cabac = encoder::stream_params(config);
  config.profile = Profile::baseline;
  const encoder::StreamParams cavlc = encoder::stream_params(config);
  const auto backend = encoder::cuda::open_devices(cabac, {0}, 6);  // whose memory suffices for both coders
  for (const encoder::StreamParams& params : {cabac, cavlc, cavlc, cabac}) {
    ASSERT_TRUE(backend->restart(params, 3));
    const std::vector<encoder::CodedAccessUnit> alone = test::code_alone(params, pictures);
    ASSERT_EQ(test::difference(alone, test::code_together(*backend, pictures), pictures), "");
  }
}

}  // namespace
}  // namespace cu264::parity
