// Both backends find the same scenes, whatever the frames lie in and whoever writes them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "cu264/device.h"
#include "cu264/stream_group.h"
#include "encoder/config.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/frame_layout.h"
#include "tests/parity/late_writer.h"
#include "tests/parity/session_checks.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using test::Motion;
using namespace std::chrono_literals;

constexpr PixelFormat kFormats[] = {
    PixelFormat::i420,   PixelFormat::nv12,       PixelFormat::gray8,
    PixelFormat::rgb24,  PixelFormat::rgb_planar, PixelFormat::rgb_float_planar,
    PixelFormat::rgba32, PixelFormat::bgra32,     PixelFormat::rgb_half};

// Scenes of `length` pictures, one after another.
std::vector<test::Picture> scenes(const std::vector<Motion>& motions, int width, int height, int length) {
  std::vector<test::Picture> clip;
  std::uint32_t seed = 1;
  for (const Motion motion : motions) {
    for (test::Picture& picture : test::make_clip(motion, width, height, length, 10 * seed++))
      clip.push_back(std::move(picture));
  }
  return clip;
}

// A scene with a flash of one picture and one of two, and a fade into the next scene.
std::vector<test::Picture> flashes(int width, int height) {
  std::vector<test::Picture> clip = test::make_clip(Motion::slow, width, height, 12);
  for (const std::size_t i : {3u, 7u, 8u}) {
    for (std::uint8_t& sample : clip[i].samples) sample = static_cast<std::uint8_t>(200 + sample / 5);
  }
  for (test::Picture& picture : test::make_clip(Motion::fade, width, height, 6))
    clip.push_back(std::move(picture));
  for (test::Picture& picture : test::make_clip(Motion::objects, width, height, 4, 77))
    clip.push_back(std::move(picture));
  return clip;
}

Config cuts_config(int gop, PixelFormat format = PixelFormat::i420) {
  Config config;
  config.preset = Preset::fast, config.gop = gop, config.qp = 30, config.scene_cuts = true;
  config.input_format = format;
  return config;
}

std::vector<std::size_t> keys_of(const std::vector<Packet>& packets) {
  std::vector<std::size_t> keys;
  for (const Packet& packet : packets) {
    if (packet.key) keys.push_back(packet.index);
  }
  return keys;
}

class SceneCutsParity : public SessionParity {
 protected:
  // Host memory is overwritten as soon as a frame was sent.
  static std::vector<Packet> encode_once(const Config& config, const std::vector<test::Picture>& pictures,
                                         MemoryKind memory, bool bottom_up = false) {
    Encoder encoder(config);
    std::vector<Packet> packets;
    std::vector<PlacedFrame> placed;
    for (const test::Picture& picture : pictures) {
      FramePlanes planes(picture, *config.input_format, 4, bottom_up);
      placed.emplace_back(planes, memory);
      const Frame frame = placed.back().view(static_cast<std::int64_t>(packets.size()));
      while (!encoder.send(frame)) packets.push_back(encoder.receive().value());
      if (memory != MemoryKind::host) continue;
      for (int plane = 0; plane < encoder::plane_count(frame.format); ++plane) {
        const auto bytes = static_cast<std::size_t>(encoder::row_bytes(frame.format, plane, frame.width));
        for (int y = 0; y < encoder::plane_side(frame.format, plane, frame.height); ++y)
          std::memset(const_cast<std::uint8_t*>(frame.plane[plane] + y * frame.pitch[plane]), 91, bytes);
      }
    }
    encoder.flush();
    while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    for (Packet& packet : packets) packet.pts = 0;
    return packets;
  }

  static void expect_same(Config config, const std::vector<test::Picture>& pictures, MemoryKind memory,
                          const std::vector<int>& batches, bool bottom_up = false) {
    config.width = pictures[0].width, config.height = pictures[0].height;
    config.backend = BackendChoice::cpu;
    const std::vector<Packet> host = encode_once(config, pictures, MemoryKind::host, bottom_up);
    config.backend = BackendChoice::cuda;
    for (const int batch : batches) {
      if (test::quick() && batch != batches.back()) continue;
      config.batch = batch;
      SCOPED_TRACE(text(config));
      const std::vector<Packet> device = encode_once(config, pictures, memory, bottom_up);
      EXPECT_EQ(keys_of(host), keys_of(device));
      expect_equal(host, device);
      if (HasFatalFailure()) return;
    }
  }
};

// What is known of each picture, of several streams that take turns and begin anew.
TEST_F(SceneCutsParity, SumsOfPictures) {
  constexpr int kStreams = 3;
  const int sizes[][2] = {{64, 48}, {51, 37}, {17, 1}, {1, 30}, {130, 34}, {16, 16}, {200, 90}};
  int number = 0;
  for (const PixelFormat format : kFormats) {
    for (const auto& [width, height] : sizes) {
      const auto memory = static_cast<MemoryKind>(number % 3);
      const bool bottom_up = number % 4 == 3;
      SCOPED_TRACE(std::string(encoder::name_of(format)) + ", " + std::to_string(width) + "x" +
                   std::to_string(height) + ", memory " + std::to_string(static_cast<int>(memory)));
      Config config = cuts_config(0, format);
      config.width = width, config.height = height, config.threads = 1;
      encoder::StreamParams params = encoder::stream_params(config);
      params.execution.streams = kStreams;
      const auto on_host = encoder::make_cpu_analyser(params);
      const auto on_device = encoder::cuda::make_device_analyser(params, 0, 1 + 5 * (number++ % 4));
      const std::vector<test::Picture> clip = scenes({Motion::slow, Motion::noisy}, width, height, 4);
      std::vector<PlacedFrame> placed;
      std::vector<std::unique_ptr<encoder::AnalysedFrame>> held;
      std::vector<core::SceneSums> expected;
      for (std::size_t i = 0; i < kStreams * clip.size(); ++i) {
        const FramePlanes planes(clip[(i / kStreams + 2 * (i % kStreams)) % clip.size()], format,
                                 4 * (number % 3), bottom_up);
        core::PictureParams picture;
        picture.stream = static_cast<std::uint32_t>(i % kStreams);
        picture.index = i / kStreams % (5 + picture.stream);
        placed.emplace_back(planes, memory);
        held.push_back(on_device->analyse(placed.back().view(), nullptr, picture));
        const PlacedFrame same(planes, MemoryKind::host);
        expected.push_back(on_host->analyse(same.view(), nullptr, picture)->scene());
        EXPECT_TRUE(picture.index != 0 || expected.back() == core::SceneSums{});
      }
      for (std::size_t i = 0; i < held.size(); ++i) {
        const core::SceneSums found = held[i]->scene();
        EXPECT_TRUE(held[i]->done());
        ASSERT_EQ(found.inter, expected[i].inter) << i;
        ASSERT_EQ(found.intra, expected[i].intra) << i;
      }
    }
  }
}

// More of them than there is memory for at once, and frames that outlive their analyser.
TEST_F(SceneCutsParity, SmallPicturesAreUsedAgain) {
  Config config = cuts_config(0);
  config.width = 64, config.height = 48, config.threads = 1;
  const encoder::StreamParams params = encoder::stream_params(config);
  const auto on_host = encoder::make_cpu_analyser(params);
  auto on_device = encoder::cuda::make_device_analyser(params, 0, 16);
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 64, 48, 5);
  std::vector<std::unique_ptr<encoder::AnalysedFrame>> held;
  for (std::size_t i = 0; i < 120; ++i) {
    const PlacedFrame frame(FramePlanes(clip[i % clip.size()], PixelFormat::i420, 0), MemoryKind::host);
    core::PictureParams picture;
    picture.index = i;
    held.push_back(on_device->analyse(frame.view(), nullptr, picture));
    const core::SceneSums expected = on_host->analyse(frame.view(), nullptr, picture)->scene();
    if (i % 7 == 3) {
      const core::SceneSums found = held.back()->scene();
      ASSERT_EQ(found.inter, expected.inter) << i;
      ASSERT_EQ(found.intra, expected.intra) << i;
      held.clear();
    }
  }
  on_device.reset();
}

TEST_F(SceneCutsParity, ScenesBeginGops) {
  test::QuickCases cases(5);
  const std::vector<test::Picture> clip =
      scenes({Motion::slow, Motion::objects, Motion::still, Motion::noisy}, 64, 48, 4);
  for (const int gop : {0, 3}) {
    for (const MemoryKind memory : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
      for (const bool crf : {false, true}) {
        if (cases.leave_out()) continue;
        Config config = cuts_config(gop);
        if (crf) config.crf = 28;
        expect_same(config, clip, memory, {1, 16, 6});
        if (HasFatalFailure()) return;
      }
    }
  }
  Config config = cuts_config(0);
  config.width = 64, config.height = 48, config.backend = BackendChoice::cuda, config.batch = 7;
  EXPECT_EQ(keys_of(encode_once(config, clip, MemoryKind::device)), (std::vector<std::size_t>{0, 4, 8, 12}));
}

TEST_F(SceneCutsParity, FlashesFadesAndNoise) {
  expect_same(cuts_config(0), flashes(64, 48), MemoryKind::device, {1, 8});
  test::QuickCases cases(4);
  for (const Motion motion : test::kMotions) {
    if (cases.leave_out()) continue;
    expect_same(cuts_config(0), test::make_clip(motion, 64, 48, 10), MemoryKind::host, {4});
    if (HasFatalFailure()) return;
  }
}

TEST_F(SceneCutsParity, EveryFormat) {
  test::QuickCases cases(7);
  const std::vector<test::Picture> clip = scenes({Motion::slow, Motion::noisy}, 51, 37, 3);
  int number = 0;
  for (const PixelFormat format : kFormats) {
    for (const MemoryKind memory : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
      if (cases.leave_out()) continue;
      expect_same(cuts_config(5, format), clip, memory, {3}, number++ % 2 == 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SceneCutsParity, RateControl) {
  const std::vector<test::Picture> clip = scenes({Motion::noisy, Motion::objects, Motion::slow}, 64, 48, 4);
  test::QuickCases cases(2);
  for (const int mode : {0, 1, 2, 3}) {
    if (cases.leave_out()) continue;
    SCOPED_TRACE(mode);
    Config config = cuts_config(6);
    if (mode == 0) config.bitrate = 300000;
    if (mode == 1) config.bitrate = 250000, config.cbr = true, config.lookahead = 0;
    if (mode == 2) config.max_frame_bytes = 900;
    if (mode == 3) config.max_frame_bytes = 500, config.on_overflow = OnOverflow::drop;
    expect_same(config, clip, MemoryKind::host, {1, 4});
    if (HasFatalFailure()) return;
  }
}

// Frames that are still being written when they are sent.
TEST_F(SceneCutsParity, LateFrames) {
  test::QuickCases cases(5);
  const std::vector<test::Picture> clip = scenes({Motion::slow, Motion::noisy, Motion::objects}, 48, 48, 3);
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::rgb24}) {
    Config config = cuts_config(0, format);
    config.width = 48, config.height = 48, config.backend = BackendChoice::cpu;
    const std::vector<Packet> expected = encode(config, place(clip, format, MemoryKind::host));
    EXPECT_EQ(keys_of(expected), (std::vector<std::size_t>{0, 3, 6}));
    config.backend = BackendChoice::cuda;
    const std::vector<PlacedFrame> sources = place(clip, format, MemoryKind::device),
                                   targets = place(clip, format, MemoryKind::device);
    for (const LateStream stream : kLateStreams) {
      for (const int batch : {1, 4}) {
        if (cases.leave_out()) continue;
        SCOPED_TRACE(std::string(name_of(stream)) + ", batch " + std::to_string(batch));
        LateWriter writer(stream, 0);
        for (const PlacedFrame& target : targets) blank(target.view());
        config.batch = batch;
        Encoder encoder(config);
        std::vector<Packet> packets;
        for (std::size_t i = 0; i < clip.size(); ++i) {
          if (i % 3 == 2) writer.change_stream();
          const Frame frame =
              writer.write(targets[i].view(static_cast<std::int64_t>(3 * i + 1)), sources[i].view(), true);
          while (!encoder.send(frame)) packets.push_back(encoder.receive().value());
        }
        encoder.flush();
        while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
        expect_equal(expected, packets);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// One picture at a time: its packet comes without a flush.
TEST_F(SceneCutsParity, EveryPacketComesByItself) {
  const std::vector<test::Picture> clip = scenes({Motion::slow, Motion::noisy}, 64, 48, 3);
  for (const bool crf : {false, true}) {
    Config config = cuts_config(0);
    config.width = 64, config.height = 48, config.backend = BackendChoice::cuda, config.batch = 1;
    if (crf) config.crf = 30;
    const std::vector<PlacedFrame> frames = place(clip, PixelFormat::i420, MemoryKind::device);
    Encoder encoder(config);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      ASSERT_TRUE(encoder.send(frames[i].view(static_cast<std::int64_t>(i))));
      const auto packet = encoder.receive(60s);
      ASSERT_TRUE(packet.has_value()) << i;
      EXPECT_EQ(packet->index, i);
      EXPECT_EQ(packet->key, i % 3 == 0);
    }
  }
}

// An encoder is used again: a clip knows nothing of the one before.
TEST_F(SceneCutsParity, ClipsFollowOneAnother) {
  const std::vector<test::Picture> first = test::make_clip(Motion::slow, 64, 48, 5),
                                   second = test::make_clip(Motion::objects, 64, 48, 5, 40);
  const auto code = [&](BackendChoice backend) {
    Config config = cuts_config(0);
    config.width = 64, config.height = 48, config.backend = backend, config.batch = 3;
    Encoder encoder(config);
    std::vector<Packet> packets;
    for (const auto* clip : {&first, &second, &first}) {
      const std::vector<PlacedFrame> frames = place(*clip, PixelFormat::i420, MemoryKind::host);
      for (const PlacedFrame& frame : frames) {
        while (!encoder.send(frame.view())) packets.push_back(encoder.receive().value());
      }
      encoder.flush();
      while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    }
    return packets;
  };
  expect_equal(code(BackendChoice::cpu), code(BackendChoice::cuda));
}

TEST_F(SceneCutsParity, StreamsOfAGroup) {
  constexpr std::size_t kStreams = 4;
  const Motion motions[] = {Motion::slow, Motion::objects, Motion::noisy, Motion::still, Motion::slow};
  std::vector<std::vector<test::Picture>> clips;
  for (std::size_t s = 0; s < kStreams; ++s) {
    clips.push_back(test::make_clip(motions[s], 64, 48, static_cast<int>(2 + s)));
    for (test::Picture& picture : test::make_clip(motions[s + 1], 64, 48, 4, 90)) clips[s].push_back(picture);
  }
  const auto code = [&](BackendChoice backend, MemoryKind memory) {
    StreamGroupConfig group_config;
    group_config.backend = backend;
    StreamGroup group(group_config);
    std::vector<StreamGroup::Stream> ids;
    std::vector<std::vector<PlacedFrame>> frames;
    for (std::size_t s = 0; s < kStreams; ++s) {
      Config config = cuts_config(s % 2 == 0 ? 0 : 5);
      config.width = 64, config.height = 48;
      ids.push_back(group.open(config));
      frames.push_back(place(clips[s], PixelFormat::i420, memory));
    }
    std::vector<std::vector<Packet>> packets(kStreams);
    const auto take = [&](std::size_t s, std::chrono::seconds timeout) {
      auto packet = group.receive(ids[s], timeout);
      if (packet) packets[s].push_back(std::move(*packet));
      return packet.has_value();
    };
    for (std::size_t i = 0; i < clips.back().size(); ++i) {
      for (std::size_t s = 0; s < kStreams; ++s) {
        if (i >= frames[s].size()) continue;
        while (!group.submit(ids[s], frames[s][i].view(static_cast<std::int64_t>(i)), {})) take(s, 60s);
      }
    }
    for (std::size_t s = 0; s < kStreams; ++s) {
      group.flush(ids[s]);
      while (take(s, 60s)) continue;
    }
    return packets;
  };
  const auto host = code(BackendChoice::cpu, MemoryKind::host);
  for (const MemoryKind memory : {MemoryKind::host, MemoryKind::device}) {
    const auto device = code(BackendChoice::cuda, memory);
    for (std::size_t s = 0; s < kStreams; ++s) {
      EXPECT_EQ(keys_of(host[s]).at(1), 2 + s);
      expect_equal(host[s], device[s]);
    }
  }
}

// Frames are held while they wait for what is known of them, which memory_required counts.
TEST_F(SceneCutsParity, MemoryIsWhatWasSaid) {
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 48, 32, 20);
  constexpr std::size_t kSmallPieces = std::size_t{1} << 20;
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::rgb24}) {
    const auto frames = place(clip, format, MemoryKind::host);
    Config config = cuts_config(8, format);
    config.width = 48, config.height = 32, config.backend = BackendChoice::cuda, config.batch = 4;
    const MemoryRequirement required = memory_required(config);
    release_cached_memory();
    const auto taken = [](int shelf) { return memory_cache_state(shelf).taken_bytes; };
    const std::size_t device = taken(0), pinned = taken(kPinnedMemory);
    Encoder encoder(config);
    for (std::size_t sent = 0; encoder.send(frames[sent % frames.size()].view()); ++sent)
      ASSERT_LT(sent, 1000u);
    EXPECT_LE(taken(0) - device, required.device + kSmallPieces);
    EXPECT_LE(taken(kPinnedMemory) - pinned, required.pinned + kSmallPieces);
    EXPECT_GE(taken(kPinnedMemory) - pinned + kSmallPieces, required.pinned);
  }
}

}  // namespace
}  // namespace cu264::parity
