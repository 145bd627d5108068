// Frames in device memory that are still being written when they are sent give the bytes of the same frames
// written before: in every format, on every kind of stream, in every mode, from encoders and groups.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda/error_check.h"
#include "common/cuda/handles.h"
#include "cu264/stream_group.h"
#include "tests/parity/late_writer.h"
#include "tests/parity/session_checks.h"
#include "tests/support/rate_checks.h"

namespace cu264::parity {
namespace {

using test::RateMode;

// The modes of rate control, and those without it.
std::vector<RateMode> modes(int width, int height) {
  std::vector<RateMode> all = test::rate_modes(width, height);
  Config config;
  config.width = width, config.height = height;
  config.preset = Preset::fast, config.qp = 24;
  const auto add = [&](const char* name) -> Config& {
    return all.emplace_back(RateMode{name, config}).config;
  };
  add("qp");
  add("edges").edge_guided = 2;
  add("variance").aq = AdaptiveQuantisation::variance;
  add("qp of balanced").preset = Preset::balanced;
  Config& one = add("one at a time");
  one.batch = 1;
  return all;
}

// The clip that is sent, and the memory that it is written to. Its device is current only while it is
// written.
struct LateClip {
  int device = 0;
  std::vector<PlacedFrame> sources, targets;

  std::size_t size() const { return targets.size(); }
  void begin() const {
    const DeviceGuard guard(device);
    for (const PlacedFrame& target : targets) blank(target.view());
  }
  // Streams come and go while frames wait for their batch.
  Frame write(LateWriter& writer, std::size_t i, bool late) const {
    const DeviceGuard guard(device);
    if (i % 3 == 2) writer.change_stream();
    return writer.write(targets[i].view(static_cast<std::int64_t>(i)), sources[i].view(), late);
  }
};

using Bytes = std::vector<std::vector<std::uint8_t>>;  // of packets

// Two clips from one encoder, the second one drained in its middle. The second pass codes the same frames
// again at QPs of their own, as two passes to a size do.
Bytes encode_clips(const Config& config, const LateClip& clip, LateWriter& writer, bool late) {
  Encoder encoder(config);
  Bytes packets;
  const auto take = [&] {
    auto packet = encoder.receive();
    if (packet) packets.push_back(std::move(packet->data).release());
    return packet.has_value();
  };
  for (const bool drains : {false, true}) {
    clip.begin();
    for (std::size_t i = 0; i < clip.size(); ++i) {
      if (drains && i == clip.size() / 2) {
        encoder.drain();
        while (take()) {
        }
      }
      Frame frame = clip.write(writer, i, late);
      if (drains && config.bitrate == 0 && config.frame_bytes == 0) frame.qp = 20 + static_cast<int>(i);
      while (!encoder.send(frame)) take();
    }
    encoder.flush();
    while (take()) {
    }
  }
  return packets;
}

// Two streams of a group that send the same frames, and a second clip.
Bytes encode_in_group(const Config& config, const LateClip& clip, LateWriter& writer, bool late) {
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cuda;
  group_config.batch = config.batch, group_config.devices = config.devices;
  group_config.queue = static_cast<int>(clip.size());
  StreamGroup group(group_config);
  Config own = config;
  own.devices.clear();
  const StreamGroup::Stream streams[] = {group.open(own), group.open(own)};
  Bytes packets;
  constexpr std::chrono::minutes kLong(5);
  for (int pass = 0; pass < 2; ++pass) {
    clip.begin();
    for (std::size_t i = 0; i < clip.size(); ++i) {
      const Frame frame = clip.write(writer, i, late);
      for (const StreamGroup::Stream stream : streams) EXPECT_TRUE(group.submit(stream, frame, kLong));
    }
    for (const StreamGroup::Stream stream : streams) group.flush(stream);
    for (const StreamGroup::Stream stream : streams) {
      while (auto packet = group.receive(stream, kLong)) packets.push_back(std::move(packet->data).release());
    }
  }
  return packets;
}

struct Cases {
  std::vector<std::string> modes;  // none: all
  std::vector<LateStream> streams = {std::begin(kLateStreams), std::end(kLateStreams)};
  bool encoder = true, group = true;
};

const Cases kPlainModes{{"qp", "crf", "max-frame-bytes"}};
const Cases kOnDefaultStream{{}, {LateStream::by_default}};

class LateFramesParity : public SessionParity {
 protected:
  static void expect_waits(const Cases& cases, PixelFormat format, int width, int height, int count,
                           int device = 0) {
    const std::vector<test::Picture> pictures = test::cuts_of(width, height, count);
    LateClip clip{device, {}, {}};
    {
      const DeviceGuard guard(device);
      clip.sources = place(pictures, format, MemoryKind::device);
      clip.targets = place(pictures, format, MemoryKind::device);
    }
    for (const RateMode& mode : modes(width, height)) {
      const bool named = std::count(cases.modes.begin(), cases.modes.end(), mode.name) != 0;
      if (!named && !cases.modes.empty()) continue;
      Config config = mode.config;
      config.backend = BackendChoice::cuda;
      config.devices = {device};
      config.input_format = format;
      if (config.batch == 0) config.batch = 3;
      for (const bool grouped : {false, true}) {
        if (!(grouped ? cases.group : cases.encoder)) continue;
        const auto found_with = [&](LateStream stream, bool late) {
          LateWriter writer(stream, device);
          return grouped ? encode_in_group(config, clip, writer, late)
                         : encode_clips(config, clip, writer, late);
        };
        const Bytes expected = found_with(LateStream::non_blocking, false);
        ASSERT_EQ(expected.size(), clip.size() * (grouped ? 4 : 2)) << mode.name;
        for (const LateStream stream : cases.streams) {
          const Bytes found = found_with(stream, true);
          ASSERT_EQ(found.size(), expected.size());
          for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(found[i], expected[i])
                << mode.name << ", format " << static_cast<int>(format) << ", " << name_of(stream)
                << " stream, " << (grouped ? "group" : "encoder") << ", packet " << i;
          }
        }
      }
    }
  }
};

constexpr PixelFormat kOtherFormats[] = {PixelFormat::nv12,       PixelFormat::gray8,
                                         PixelFormat::rgb24,      PixelFormat::rgba32,
                                         PixelFormat::rgb_planar, PixelFormat::rgb_float_planar,
                                         PixelFormat::rgb_half,   PixelFormat::rgb_bfloat16_planar,
                                         PixelFormat::bgra32};

TEST_F(LateFramesParity, SmallCase) {
  const std::vector<LateStream> two = {LateStream::by_default, LateStream::non_blocking};
  expect_waits({{"qp", "crf"}, kPlainModes.streams, true, false}, PixelFormat::i420, 32, 16, 2);
  expect_waits({{"qp"}, two, true, false}, PixelFormat::rgb24, 32, 16, 2);
  expect_waits({{"crf"}, two, false, true}, PixelFormat::i420, 32, 16, 2);
}

TEST_F(LateFramesParity, EveryStreamAndMode) {
  expect_waits({}, PixelFormat::i420, 320, 180, 7);
}

TEST_F(LateFramesParity, OtherFormats) {
  for (const PixelFormat format : kOtherFormats) {
    expect_waits(kPlainModes, format, 320, 180, 5);
    expect_waits(kOnDefaultStream, format, 320, 180, 5);
    if (HasFatalFailure()) return;
  }
}

// The frames' device need not be current when they are sent, nor be the first one.
TEST_F(LateFramesParity, EveryDevice) {
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices), "counting the CUDA devices");
  if (devices < 2) GTEST_SKIP() << "there is one device";
  for (int device = 0; device < devices; ++device) {
    expect_waits(kOnDefaultStream, PixelFormat::i420, 320, 180, 5, device);
    expect_waits(kPlainModes, PixelFormat::i420, 320, 180, 5, device);
    expect_waits(kPlainModes, PixelFormat::rgb_float_planar, 320, 180, 5, device);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cu264::parity
