// Batches of pictures of different QPs and streams: each picture has the bytes that the CPU backend gives it
// when it is coded alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cu264/protect.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/stream_params.h"
#include "entropy/cavlc/published/entropy_kernels.h"
#include "support/encode.h"
#include "tests/parity/device_test.h"
#include "tests/support/mixed_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using test::MixedPicture;

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};
constexpr int kPairs = 24;  // in batches of up to this many pictures, two warps share a macroblock

ProtectionKey key() {
  return ProtectionKey(std::array<std::uint8_t, 32>{3, 1, 4, 1, 5});
}

class MixedBatches : public DeviceTest {
 protected:
  static Config config_of(Preset preset, int slices, const char* name = "aq", const char* value = "off") {
    Config config = test::baseline_config();
    config.preset = preset, config.slices = slices, config.reconstruction = true;
    config.set(name, value);
    return config;
  }

  static void expect_same_as_alone(Config config, const std::vector<MixedPicture>& pictures, int streams,
                                   const std::vector<int>& batches, const std::vector<int>& devices = {0},
                                   const entropy::EntropyKernel* kernel = nullptr) {
    config.width = pictures[0].picture.width, config.height = pictures[0].picture.height;
    encoder::StreamParams params = encoder::stream_params(config);
    params.execution.streams = streams;
    const std::vector<encoder::CodedAccessUnit> alone = test::code_alone(params, pictures);
    params.execution.entropy_kernel = kernel;
    for (const int batch : batches) {
      const auto backend = encoder::cuda::open_devices(params, devices, batch);
      ASSERT_EQ(test::difference(alone, test::code_together(*backend, pictures), pictures), "")
          << "batches of " << batch << ", preset " << static_cast<int>(config.preset) << ", slices "
          << config.slices << ", devices " << devices.size();
    }
  }
};

TEST_F(MixedBatches, PresetsAndAdaptiveQuantisation) {
  test::QuickCases cases(5);
  for (const Preset preset : kPresets) {
    for (const auto& [name, value] :
         {std::pair{"aq", "off"}, {"aq", "variance"}, {"aq", "steps"}, {"edge-guided", "3"}}) {
      if (cases.leave_out()) continue;
      SCOPED_TRACE(std::string(name) + " " + value);
      const int slices = preset == Preset::balanced ? 2 : 1;
      expect_same_as_alone(config_of(preset, slices, name, value), test::mixed_pictures(8, 50, 40, 3, 1), 3,
                           {1, 3, 8});
      if (HasFatalFailure()) return;
    }
  }
}

// The QP of the last rows is higher by one, with offsets of each kind, which are remembered or not.
TEST_F(MixedBatches, RaisedRows) {
  const auto expect_same = [](auto change) {
    Config config = config_of(Preset::fast, 2);
    config.crf = 20;
    change(config);
    std::vector<MixedPicture> pictures = test::mixed_pictures(9, 50, 66, 3, 9);
    test::raise_rows(pictures, 1);
    expect_same_as_alone(config, pictures, 3, test::quick() ? std::vector{4} : std::vector{1, 4, 9});
    expect_same_as_alone(config, pictures, 3, {1, 2}, {0, 0});
  };
  expect_same([](Config& c) { c.aq = AdaptiveQuantisation::off; });
  expect_same([](Config&) {});
  expect_same([](Config& c) { c.edge_guided = 3; });
  expect_same([](Config& c) { c.bitrate = 1000; });
  expect_same([](Config& c) { c.bitrate = 1000, c.edge_guided = 2, c.preset = Preset::best; });
}

// A batch of one QP, of which some pictures have raised rows and which the next one without them follows.
TEST_F(MixedBatches, RaisedRowsOfOneQp) {
  Config config = config_of(Preset::balanced, 1);
  config.crf = 20;
  std::vector<MixedPicture> pictures = test::mixed_pictures(kPairs + 2, 32, 48, 1, 10);
  for (MixedPicture& picture : pictures) picture.params.qp = 30;
  for (std::size_t i = 0; i < pictures.size() / 2; ++i)
    pictures[i].params.raised_rows = static_cast<std::uint16_t>(i % 4);
  expect_same_as_alone(config, pictures, 1, {1, 3, kPairs + 2});
}

// Larger batches: each warp encodes a row at a time, of one picture after another.
TEST_F(MixedBatches, LargeBatches) {
  constexpr int kPictures = kPairs + 3;
  for (const Preset preset : kPresets) {
    for (const auto& [name, value] : {std::pair{"aq", "off"}, {"aq", "variance"}}) {
      SCOPED_TRACE(std::string(name) + " " + value);
      expect_same_as_alone(config_of(preset, 1, name, value), test::mixed_pictures(kPictures, 32, 32, 4, 2),
                           4, {kPictures});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(MixedBatches, EntropyKernels) {
  test::QuickCases cases(3);
  for (const entropy::EntropyKernel* const kernel :
       {static_cast<const entropy::EntropyKernel*>(nullptr), &entropy::kCavlcu, &entropy::kCavlcuTuned,
        &entropy::kCavlcSu}) {
    for (const int slices : {1, 3}) {
      for (const auto& [name, value] : {std::pair{"aq", "off"}, {"aq", "variance"}}) {
        if (cases.leave_out()) continue;
        Config config = config_of(Preset::fast, slices, name, value);
        expect_same_as_alone(config, test::mixed_pictures(7, 66, 50, 2, 3), 2, {7}, {0}, kernel);
        config.encryption = EncoderEncryption{key(), encryption_strength(3)};
        expect_same_as_alone(config, test::mixed_pictures(7, 66, 50, 1, 4), 1, {5}, {0}, kernel);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(MixedBatches, Watermarks) {
  for (const WatermarkScheme scheme : {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity}) {
    for (const Preset preset : {Preset::fast, Preset::balanced}) {
      Config config = config_of(preset, 2, "aq", preset == Preset::fast ? "off" : "variance");
      config.watermark = EncoderWatermark{key(), {0xc5}, scheme, 65536};
      expect_same_as_alone(config, test::mixed_pictures(7, 50, 50, 3, 5), 3, {2, 7});
      expect_same_as_alone(config, test::mixed_pictures(kPairs + 2, 32, 32, 3, 6), 3, {kPairs + 2});
      if (HasFatalFailure()) return;
    }
  }
}

// The state that adaptive quantisation keeps of each stream is handed from device to device.
TEST_F(MixedBatches, OneDeviceAsSeveral) {
  for (const char* const strength : {"1", "3"}) {
    expect_same_as_alone(config_of(Preset::fast, 1, "edge-guided", strength),
                         test::mixed_pictures(19, 50, 40, 3, 7), 3, {1, 4}, {0, 0});
    if (HasFatalFailure()) return;
  }
}

TEST_F(MixedBatches, WhatIsNotAllowedIsRefused) {
  Config config = config_of(Preset::fast, 1);
  config.width = config.height = 32;
  const MixedPicture mixed = test::mixed_pictures(1, 32, 32, 1, 8).front();
  encoder::StreamParams params = encoder::stream_params(config);
  const auto backend = encoder::cuda::open_device(params, 0, 1);
  MixedPicture wrong = mixed;
  wrong.params.qp = 52;
  EXPECT_THROW(test::code_together(*backend, {wrong}), Error);
  wrong = mixed, wrong.params.stream = 1;
  EXPECT_THROW(test::code_together(*backend, {wrong}), Error);
  EXPECT_EQ(test::code_together(*backend, {mixed}).size(), 1u);
  config.encryption = EncoderEncryption{key(), encryption_strength(3)};
  params = encoder::stream_params(config);
  params.execution.streams = 2;
  EXPECT_THROW(encoder::cuda::open_device(params, 0, 1), Error);
}

}  // namespace
}  // namespace cu264::parity
