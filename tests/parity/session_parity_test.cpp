// Whole sessions: the packets of the CUDA backend are those of the CPU backend, byte for byte.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/block.h"
#include "cu264/device.h"
#include "encoder/cuda/batch_size.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/search/reconstruct.h"
#include "entropy/cabac/cabac_batch.h"
#include "entropy/pack/pack_batch.h"
#include "support/encode.h"
#include "tests/parity/session_checks.h"
#include "tests/support/made_scaling_lists.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using test::Content;

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};

TEST_F(SessionParity, AdaptiveQuantisation) {
  const std::vector<test::Picture> pictures = clip(4, 50, 40);
  test::QuickCases cases(5);
  for (const Preset preset : kPresets) {
    for (const auto& [name, value] :
         {std::pair{"edge-guided", "1"}, {"edge-guided", "3"}, {"aq", "steps"}, {"aq", "variance"}}) {
      for (const int qp : {0, 27, 51}) {
        if (cases.leave_out()) continue;
        Config config = test::baseline_config();
        config.qp = qp, config.preset = preset, config.slices = 2, config.reconstruction = true;
        config.set(name, value);
        expect_parity(config, pictures, {1, 3});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The maps that guide are the same on both backends, whatever their thresholds, and the offsets do not depend
// on whether they are asked for.
TEST_F(SessionParity, EdgeMaps) {
  Config config = test::baseline_config();
  config.preset = Preset::fast, config.edge_guided = 2, config.edge_maps = true;
  for (const auto& [width, height] : {std::pair{70, 45}, {33, 18}, {1, 1}}) {
    const std::vector<test::Picture> pictures = clip(3, width, height);
    for (const char* const thresholds : {"distributed", "rows-0.01", "frame", "0.05,0.15"}) {
      config.set("edge-thresholds", thresholds);
      expect_parity(config, pictures, {2});
      if (HasFatalFailure()) return;
    }
  }
  config.set("edge-thresholds", "distributed");
  expect_parity(config, clip(5, 70, 45), {1, 5});
  config.input_format = PixelFormat::rgb24;
  expect_parity(config, clip(3, 50, 35), {2});
  config.edge_maps = false;
  expect_parity(config, clip(3, 50, 35), {2});
}

// A batch large enough for one warp to take a row alone, with more macroblocks in a slice than one pass of
// the mb_qp_delta kernel takes.
TEST_F(SessionParity, AdaptiveQuantisationLargeBatch) {
  Config config = test::baseline_config();
  config.set("edge-guided", "2");
  config.preset = Preset::fast;
  expect_parity(config, clip(26, 48, 48), {26});
  expect_parity(config, {test::make_picture(Content::natural, 640, 480)}, {1});
}

// A little of everything, for tools that slow the device down a hundredfold.
TEST_F(SessionParity, SmallCase) {
  const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 50, 35),
                                               test::make_picture(Content::noise, 50, 35),
                                               test::make_picture(Content::text, 50, 35)};
  for (const Preset preset : kPresets) {
    Config config = test::baseline_config();
    config.preset = preset, config.qp = 20, config.slices = 2, config.reconstruction = true;
    expect_parity(config, pictures, {2});
    config.input_format = PixelFormat::rgb24, config.qp = 0;
    expect_parity(config, pictures, {3});
    if (HasFatalFailure()) return;
  }
}

TEST_F(SessionParity, LargeTransform) {
  const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 50, 35),
                                               test::make_picture(Content::noise, 50, 35),
                                               test::make_picture(Content::text, 50, 35)};
  for (const Preset preset : kPresets) {
    for (const bool cavlc : {false, true}) {
      for (const int qp : {0, 24}) {
        Config config = test::baseline_config();
        config.profile = Profile::high, config.cavlc = cavlc;
        config.preset = preset, config.qp = qp, config.slices = 2, config.reconstruction = true;
        if (qp != 0) config.set("aq", "variance");
        expect_parity(config, pictures, {2});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(SessionParity, ScalingLists) {
  const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 50, 35),
                                               test::make_picture(Content::noise, 50, 35),
                                               test::extreme_picture(50, 35, 1)};
  for (const Preset preset : kPresets) {
    for (const bool cavlc : {false, true}) {
      for (const auto& [qp, lists] : {std::pair{10, test::Lists::by_plane}, {33, test::Lists::random}}) {
        Config config;
        config.profile = Profile::high, config.cavlc = cavlc, config.scaling_lists = test::make_lists(lists);
        config.preset = preset, config.qp = qp, config.slices = 2, config.reconstruction = true;
        if (qp != 10) config.set("aq", "variance");
        expect_parity(config, pictures, {2});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(SessionParity, EveryQp) {
  const std::vector<test::Picture> pictures = test::make_all_contents(40, 24);
  Config config = test::baseline_config();
  for (config.qp = 0; config.qp < 52; ++config.qp) {
    for (const Preset preset : kPresets) {
      config.preset = preset;
      expect_parity(config, pictures, {7});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SessionParity, PresetsAndContents) {
  for (const int qp : {0, 1, 10, 20, 27, 35, 44, 51}) {
    for (const Preset preset : kPresets) {
      Config config = test::baseline_config();
      config.qp = qp, config.preset = preset, config.reconstruction = qp == 27;
      expect_parity(config, test::make_all_contents(176, 144), {16});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SessionParity, Batches) {
  Config config = test::baseline_config();
  config.preset = Preset::fast;
  expect_parity(config, clip(150, 96, 80), {0, 1, 2, 3, 5, 64});
}

TEST_F(SessionParity, Sizes) {
  const int sizes[][2] = {{1, 1},     {16, 16},   {17, 33},     {96, 96},    {352, 288},
                          {8192, 16}, {16, 8192}, {1919, 1079}, {3840, 2160}};
  for (const auto& [width, height] : sizes) {
    Config config = test::baseline_config();
    for (const Preset preset : {Preset::fast, Preset::balanced}) {
      config.preset = preset, config.reconstruction = width < 1000;
      expect_parity(config,
                    {test::make_picture(Content::natural, width, height),
                     test::make_picture(Content::noise, width, height)},
                    {1, 2});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SessionParity, LargestPicture) {
  Config config = test::baseline_config();
  config.preset = Preset::fast;
  expect_parity(config, {test::make_picture(Content::natural, 8192, 4320)}, {1});
}

TEST_F(SessionParity, Slices) {
  for (const int slices : {1, 2, 5, 18}) {
    Config config = test::baseline_config();
    config.slices = slices;
    config.headers = HeaderPlacement::every_packet;
    expect_parity(config, clip(16, 352, 288), {1, 5});
    if (HasFatalFailure()) return;
  }
}

// Streams that are larger than the window on them.
TEST_F(SessionParity, NoiseAtTheFinestQuantiser) {
  Config config = test::baseline_config();
  config.qp = 0, config.preset = Preset::fast;
  std::vector<test::Picture> pictures;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    pictures.push_back(test::make_picture(Content::noise, 320, 240, seed));
  }
  expect_parity(config, pictures, {1, 3, 12});
}

// The stream of a single picture is fetched together with its size, as many bytes as the previous picture
// makes likely. Here that guess is wrong.
TEST_F(SessionParity, SinglePicturesOfChangingSize) {
  Config config = test::baseline_config();
  config.qp = 20, config.preset = Preset::fast;
  std::vector<test::Picture> pictures;
  for (std::uint32_t seed = 0; seed < 9; ++seed) {
    pictures.push_back(test::make_picture(seed % 4 < 2 ? Content::flat128 : Content::noise, 48, 32, seed));
  }
  expect_parity(config, pictures, {1});
}

TEST_F(SessionParity, LowLatencyDoesNotWaitForAFullBatch) {
  const std::vector<test::Picture> pictures = clip(6, 64, 64);
  Config config = test::baseline_config();
  config.width = config.height = 64;
  config.batch = 1;
  config.backend = BackendChoice::cuda;
  Encoder encoder(config);
  for (const PlacedFrame& frame : place(pictures, PixelFormat::i420, MemoryKind::host)) {
    ASSERT_TRUE(encoder.send(frame.view()));
    std::optional<Packet> packet;
    for (int i = 0; i < 1000000 && !packet; ++i)
      packet = encoder.receive();  // the packet must come without another frame
    ASSERT_TRUE(packet);
  }
}

TEST_F(SessionParity, SeveralDevicesAndSeveralEncoders) {
  const std::vector<test::Picture> pictures = clip(70, 96, 80);
  Config config = test::baseline_config();
  config.width = 96, config.height = 80;
  config.preset = Preset::fast;
  const std::vector<Packet> host = on_host(config, pictures);
  const std::vector<PlacedFrame> frames = place(pictures, PixelFormat::i420, MemoryKind::host);
  config.backend = BackendChoice::cuda;
  config.batch = 4;
  for (const DeviceInfo& device : cuda_devices()) {
    if (device.usable) config.devices.push_back(device.index);
  }
  expect_equal(host, encode(config, frames));
  // The calls of two encoders alternate.
  config.devices = {0};
  Encoder a(config), b(config);
  std::vector<Packet> of_a, of_b;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame frame = frames[i].view(static_cast<std::int64_t>(3 * i + 1));
    while (!a.send(frame)) of_a.push_back(a.receive().value());
    while (!b.send(frame)) of_b.push_back(b.receive().value());
  }
  a.flush(), b.flush();
  while (auto packet = a.receive()) of_a.push_back(std::move(*packet));
  while (auto packet = b.receive()) of_b.push_back(std::move(*packet));
  expect_equal(host, of_a);
  expect_equal(host, of_b);
}

TEST_F(SessionParity, RefusesWhatItCannotDo) {
  Config config = test::baseline_config();
  config.width = 1920, config.height = 1080;
  config.backend = BackendChoice::cuda;
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode{};
  };
  config.devices = {63};
  EXPECT_EQ(code_of([&] { Encoder encoder(config); }), ErrorCode::device_unavailable);
  config.devices.clear();
  config.batch = 1024;
  config.width = config.height = 8192;
  EXPECT_EQ(code_of([&] { Encoder encoder(config); }), ErrorCode::out_of_memory);
  config.width = config.height = 64, config.batch = 1;
  Encoder encoder(config);  // the failure above must leave nothing behind
  const PlacedFrame on_host(FramePlanes(test::make_picture(Content::natural, 64, 64), PixelFormat::i420, 0),
                            MemoryKind::host);
  Frame frame = on_host.view();
  frame.memory = MemoryKind::device;
  EXPECT_EQ(code_of([&] { encoder.send(frame); }), ErrorCode::bad_input);
}

TEST_F(SessionParity, MemoryIsWhatWasSaid) {
  for (const auto& [profile, most_gib] : {std::pair{Profile::baseline, 4u}, {Profile::high, 11u}}) {
    Config config = test::baseline_config();
    config.profile = profile;
    config.width = 1920, config.height = 1080;
    config.backend = BackendChoice::cuda;
    const MemoryRequirement required = memory_required(config);
    EXPECT_GT(required.batch, 0);
    EXPECT_LE(required.device, std::size_t{most_gib} << 30);
    std::size_t before = 0, after = 0, total = 0;
    { Encoder warm_up(config); }
    release_cached_memory();
    ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
    Encoder encoder(config);
    EXPECT_EQ(encoder.info().batch, required.batch);
    ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
    EXPECT_LE(before - after, required.device + (std::size_t{32} << 20));
  }
}

// While one batch is encoded, the stream of the other may still be fetched.
TEST_F(SessionParity, BatchesShareMemoryInTurn) {
  using Bytes = std::span<const std::uint8_t>;
  const auto bytes_at = [](const void* at, std::size_t count) {
    return Bytes(static_cast<const std::uint8_t*>(at), count);
  };
  const auto apart = [](Bytes a, Bytes b) {
    return a.data() + a.size() <= b.data() || b.data() + b.size() <= a.data();
  };
  for (const auto& [width, height, slices, batch] : {std::array{16, 16, 1, 1},
                                                     {1920, 1080, 1, 3},
                                                     {1920, 1080, 8, 1},
                                                     {16, 4096, 256, 2},
                                                     {48, 64, 4, 7}}) {
    Config config = test::baseline_config();
    config.width = width, config.height = height, config.slices = slices;
    const encoder::StreamParams params = encoder::stream_params(config);
    const std::size_t mbs = static_cast<std::size_t>(batch) *
                            static_cast<std::size_t>(params.format.mb_width * params.format.mb_height);
    std::size_t size = 0;
    encoder::cuda::lay_out_device(params, batch, nullptr, size);
    std::vector<std::uint8_t> memory(size);
    const auto layout = encoder::cuda::lay_out_device(params, batch, memory.data(), size);
    for (int i = 0; i < 2; ++i) {
      const auto &own = layout.batch[i], &other = layout.batch[1 - i];
      const Bytes stream = bytes_at(own.stream, layout.stream_bytes);
      const Bytes others_stream = bytes_at(other.stream, layout.stream_bytes);
      const Bytes levels = bytes_at(own.levels, mbs * core::kLevelsPerMacroblock * sizeof(std::int16_t));
      const Bytes scratch = bytes_at(
          own.reconstruct_scratch,
          encoder::cuda::reconstruct_scratch_bytes(batch, params.format.mb_width, params.format.mb_height));
      const Bytes coded = bytes_at(
          own.coded, entropy::coded_bytes(batch, params.format.mb_width, params.format.mb_height, slices));
      for (const Bytes part : {levels, scratch, coded, stream}) {
        EXPECT_TRUE(apart(part, others_stream)) << width << "x" << height;
        EXPECT_GE(part.data(), memory.data());
        EXPECT_LE(part.data() + part.size(), memory.data() + size);
      }
      EXPECT_TRUE(apart(levels, scratch));
      EXPECT_TRUE(apart(levels, coded));
      EXPECT_TRUE(apart(stream, coded));
    }
  }
}

// With CABAC the stages of a batch write while the stream of the other may still be fetched.
TEST_F(SessionParity, CabacLeavesTheOtherStreamAlone) {
  for (const auto& [width, height, slices, batch] :
       {std::array{16, 16, 1, 1}, {1920, 1080, 1, 3}, {1920, 1080, 8, 1}, {48, 64, 4, 7}}) {
    Config config = test::baseline_config();
    config.profile = Profile::high;
    config.width = width, config.height = height, config.slices = slices;
    const encoder::StreamParams params = encoder::stream_params(config);
    std::size_t size = 0;
    encoder::cuda::lay_out_device(params, batch, nullptr, size);
    std::vector<std::uint8_t> memory(size);
    const auto layout = encoder::cuda::lay_out_device(params, batch, memory.data(), size);
    const int mb_width = params.format.mb_width, mb_height = params.format.mb_height;
    const std::size_t level_count =
        static_cast<std::size_t>(batch * mb_width * mb_height) * core::kLevelsPerMacroblock;
    const auto bytes_at = [](const void* at, std::size_t count) {
      return std::pair(static_cast<const std::uint8_t*>(at), static_cast<const std::uint8_t*>(at) + count);
    };
    const auto& [own, other] = layout.batch;
    std::vector parts{
        bytes_at(own.stream, layout.stream_bytes), bytes_at(other.stream, layout.stream_bytes),
        bytes_at(own.levels, level_count * sizeof(std::int16_t)),
        bytes_at(own.reconstruct_scratch,
                 encoder::cuda::reconstruct_scratch_bytes(batch, mb_width, mb_height)),
        bytes_at(layout.cabac_scratch, entropy::cabac_scratch_bytes(batch, mb_width, mb_height, slices))};
    std::sort(parts.begin(), parts.end());
    EXPECT_GE(parts.front().first, memory.data());
    EXPECT_LE(parts.back().second, memory.data() + size);
    for (std::size_t i = 1; i < parts.size(); ++i) EXPECT_LE(parts[i - 1].second, parts[i].first) << width;
  }
}

// A batch that the caller chooses is encoded beside others where that makes the device busier.
TEST_F(SessionParity, BatchesSideBySide) {
  Config config = test::baseline_config();
  config.width = 1920, config.height = 1080;
  const auto side_by_side = [&](Profile profile, int batch) {
    config.profile = profile, config.batch = batch;
    return encoder::cuda::overlapping_batches(encoder::stream_params(config), batch);
  };
  EXPECT_EQ(side_by_side(Profile::baseline, 1), 4);
  EXPECT_EQ(side_by_side(Profile::baseline, 96), 2);
  EXPECT_EQ(side_by_side(Profile::baseline, 160), 1);
  EXPECT_EQ(side_by_side(Profile::high, 160), 2);
  EXPECT_EQ(side_by_side(Profile::high, 256), 1);
  config.max_frame_bytes = 1 << 20;  // too few pictures are in flight for two such batches
  EXPECT_EQ(side_by_side(Profile::high, 160), 1);
}

}  // namespace
}  // namespace cu264::parity
