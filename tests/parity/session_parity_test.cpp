// Whole sessions: the packets of the cuda backend are those of the cpu backend, byte for byte.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cu264/device.h"
#include "cu264/encoder.h"
#include "encoder/config.h"
#include "tests/parity/device_runner.h"
#include "tests/parity/placed_frames.h"
#include "tests/support/picture.h"

namespace cu264::parity {
namespace {

using test::Content;

constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};
constexpr PixelFormat kFormats[] = {
    PixelFormat::i420,  PixelFormat::nv12,   PixelFormat::gray8,      PixelFormat::rgb24,
    PixelFormat::bgr24, PixelFormat::rgba32, PixelFormat::rgb_planar, PixelFormat::rgb_float_planar};

std::vector<Packet> encode(const Config& config, const std::vector<PlacedFrame>& frames) {
  Encoder encoder(config);
  std::vector<Packet> packets;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    while (!encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1)))) {
      packets.push_back(encoder.receive().value());
    }
  }
  encoder.flush();
  while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  return packets;
}

std::string text(const Config& c) {
  std::ostringstream out;
  out << c.width << 'x' << c.height << " qp " << c.qp << ' ' << encoder::name_of(c.preset) << " slices "
      << c.slices << " batch " << c.batch;
  if (c.input_format) out << ' ' << encoder::name_of(*c.input_format);
  return out.str();
}

std::string text(const PictureStats& s) {
  std::ostringstream out;
  out << "qp " << s.qp << " I4x4 " << s.intra4x4_mbs << " I16x16 " << s.intra16x16_mbs << " PCM " << s.pcm_mbs
      << " header bits " << s.header_bits << " residual bits " << s.residual_bits;
  return out.str();
}

// Where a packet differs from the one it should be; empty if nowhere.
std::string difference(const Packet& host, const Packet& device) {
  std::ostringstream out;
  const auto [a, b] =
      std::mismatch(host.data.begin(), host.data.end(), device.data.begin(), device.data.end());
  if (a != host.data.end() || b != device.data.end()) {
    out << "byte " << a - host.data.begin() << " of " << host.data.size() << " (device " << device.data.size()
        << "); ";
  }
  if (text(host.stats) != text(device.stats)) {
    out << "statistics: host " << text(host.stats) << ", device " << text(device.stats) << "; ";
  }
  if (host.reconstruction != device.reconstruction) out << "reconstruction; ";
  if (host.pts != device.pts || host.index != device.index) out << "index or time stamp; ";
  return out.str();
}

void expect_equal(const std::vector<Packet>& host, const std::vector<Packet>& device) {
  ASSERT_EQ(host.size(), device.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    const std::string found = difference(host[i], device[i]);
    ASSERT_TRUE(found.empty()) << "packet " << i << " of " << host.size() << ": " << found;
  }
}

class SessionParity : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string reason = why_no_device();
    if (!reason.empty()) GTEST_SKIP() << "no usable CUDA device: " << reason;
  }

  static std::vector<PlacedFrame> place(const std::vector<test::Picture>& pictures, PixelFormat format,
                                        MemoryKind memory, int padding = 0, bool bottom_up = false) {
    std::vector<PlacedFrame> frames;
    for (const test::Picture& picture : pictures) {
      frames.emplace_back(FramePlanes(picture, format, padding, bottom_up), memory);
    }
    return frames;
  }

  static std::vector<Packet> on_host(Config config, const std::vector<test::Picture>& pictures) {
    config.backend = BackendChoice::cpu;
    const PixelFormat format = config.input_format.value_or(PixelFormat::i420);
    return encode(config, place(pictures, format, MemoryKind::host));
  }

  // Three times over: a difference between runs would be a race.
  static void expect_parity(Config config, const std::vector<test::Picture>& pictures,
                            const std::vector<int>& batches) {
    config.width = pictures[0].width, config.height = pictures[0].height;
    const std::vector<Packet> host = on_host(config, pictures);
    const PixelFormat format = config.input_format.value_or(PixelFormat::i420);
    const std::vector<PlacedFrame> frames = place(pictures, format, MemoryKind::host);
    config.backend = BackendChoice::cuda;
    for (const int batch : batches) {
      config.batch = batch;
      SCOPED_TRACE(text(config));
      for (int run = 0; run < 3; ++run) {
        expect_equal(host, encode(config, frames));
        if (HasFatalFailure()) return;
      }
    }
  }

  static std::vector<test::Picture> clip(int pictures, int width, int height) {
    std::vector<test::Picture> out;
    for (int i = 0; i < pictures; ++i) {
      const Content content = test::kContents[static_cast<std::size_t>(i) % test::kContents.size()];
      out.push_back(test::make_picture(content, width, height, static_cast<std::uint32_t>(i)));
    }
    return out;
  }
};

TEST_F(SessionParity, Guided) {
  const std::vector<test::Picture> pictures = clip(4, 50, 40);
  for (const Preset preset : kPresets) {
    for (const auto& [name, value] :
         {std::pair{"edge-guided", "1"}, {"edge-guided", "3"}, {"aq", "variance"}}) {
      for (const int qp : {0, 27, 51}) {
        Config config;
        config.qp = qp, config.preset = preset, config.slices = 2, config.reconstruction = true;
        config.set(name, value);
        expect_parity(config, pictures, {1, 3});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A batch that warps take alone, and more macroblocks a slice than the chain of QPs takes at once.
TEST_F(SessionParity, GuidedLargeBatch) {
  Config config;
  config.set("edge-guided", "2");
  config.preset = Preset::fast;
  expect_parity(config, clip(26, 48, 48), {26});
  expect_parity(config, {test::make_picture(Content::natural, 640, 480)}, {1});
}

// Something of everything, for tools that slow the device down a hundred times.
TEST_F(SessionParity, SmallCase) {
  const std::vector<test::Picture> pictures = {test::make_picture(Content::natural, 50, 35),
                                               test::make_picture(Content::noise, 50, 35),
                                               test::make_picture(Content::text, 50, 35)};
  for (const Preset preset : kPresets) {
    Config config;
    config.preset = preset, config.qp = 20, config.slices = 2, config.reconstruction = true;
    expect_parity(config, pictures, {2});
    config.input_format = PixelFormat::rgb24, config.qp = 0;
    expect_parity(config, pictures, {3});
    if (HasFatalFailure()) return;
  }
}

TEST_F(SessionParity, EveryQp) {
  const std::vector<test::Picture> pictures = test::make_all_contents(40, 24);
  Config config;
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
      Config config;
      config.qp = qp, config.preset = preset, config.reconstruction = qp == 27;
      expect_parity(config, test::make_all_contents(176, 144), {16});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SessionParity, Batches) {
  Config config;
  config.preset = Preset::fast;
  expect_parity(config, clip(150, 96, 80), {0, 1, 2, 3, 5, 64});
}

TEST_F(SessionParity, Sizes) {
  const int sizes[][2] = {{1, 1},     {16, 16},   {17, 33},     {96, 96},    {352, 288},
                          {8192, 16}, {16, 8192}, {1919, 1079}, {3840, 2160}};
  for (const auto& [width, height] : sizes) {
    Config config;
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
  Config config;
  config.preset = Preset::fast;
  expect_parity(config, {test::make_picture(Content::natural, 8192, 4320)}, {1});
}

TEST_F(SessionParity, Slices) {
  for (const int slices : {1, 2, 5, 18}) {
    Config config;
    config.slices = slices;
    config.headers = HeaderPlacement::every_packet;
    expect_parity(config, clip(16, 352, 288), {1, 5});
    if (HasFatalFailure()) return;
  }
}

TEST_F(SessionParity, FormatsInEveryKindOfMemory) {
  for (const PixelFormat format : kFormats) {
    for (const auto& [width, height] : {std::pair{130, 66}, std::pair{33, 35}, std::pair{1, 1}}) {
      const std::vector<test::Picture> pictures = clip(9, width, height);
      Config config;
      config.width = width, config.height = height;
      config.preset = Preset::fast, config.qp = 18;
      config.input_format = format;
      config.colour.full_range = width == 33;
      config.colour.matrix = width == 130 ? 1 : 2;
      const std::vector<Packet> host = on_host(config, pictures);
      config.backend = BackendChoice::cuda;
      config.batch = 2;
      for (const MemoryKind memory : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
        for (const int padding : {0, 4, 20}) {
          for (const bool bottom_up : {false, true}) {
            SCOPED_TRACE(text(config) + " memory " + std::to_string(static_cast<int>(memory)) + " padding " +
                         std::to_string(padding) + (bottom_up ? " bottom-up" : ""));
            expect_equal(host, encode(config, place(pictures, format, memory, padding, bottom_up)));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(SessionParity, OddPitches) {
  const std::vector<test::Picture> pictures = clip(9, 98, 50);
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::rgb24}) {
    Config config;
    config.width = 98, config.height = 50;
    config.preset = Preset::fast;
    config.input_format = format;
    const std::vector<Packet> host = on_host(config, pictures);
    config.backend = BackendChoice::cuda;
    for (const int padding : {1, 3, 7}) {
      expect_equal(host, encode(config, place(pictures, format, MemoryKind::device, padding)));
      expect_equal(host, encode(config, place(pictures, format, MemoryKind::pinned, padding)));
      if (HasFatalFailure()) return;
    }
  }
}

// The frames are overwritten, on the caller's stream, with what is to be encoded: the encoder must wait for
// it.
TEST_F(SessionParity, WaitsForTheCallersStream) {
  const int width = 640, height = 480, count = 8;
  const std::vector<test::Picture> pictures = clip(count, width, height);
  Config config;
  config.width = width, config.height = height;
  config.preset = Preset::fast;
  const std::vector<Packet> host = on_host(config, pictures);
  config.backend = BackendChoice::cuda;
  config.batch = 4;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  const std::vector<PlacedFrame> sources = place(pictures, PixelFormat::i420, MemoryKind::device);
  const std::vector<test::Picture> blank(count, test::make_picture(Content::flat16, width, height));
  const std::vector<PlacedFrame> targets = place(blank, PixelFormat::i420, MemoryKind::device);
  constexpr std::size_t kDelayBytes = std::size_t{1} << 28;
  void* d_delay = nullptr;
  ASSERT_EQ(cudaMalloc(&d_delay, kDelayBytes), cudaSuccess);
  std::vector<Packet> packets;
  {
    Encoder encoder(config);
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < 20; ++k) cudaMemsetAsync(d_delay, k, kDelayBytes, stream);  // takes its time
      Frame frame = targets[static_cast<std::size_t>(i)].view(3 * i + 1);
      const Frame source = sources[static_cast<std::size_t>(i)].view();
      for (int p = 0; p < 3; ++p) {
        const std::size_t bytes =
            static_cast<std::size_t>(frame.pitch[p]) * static_cast<std::size_t>(p == 0 ? height : height / 2);
        cudaMemcpyAsync(const_cast<std::uint8_t*>(frame.plane[p]), source.plane[p], bytes,
                        cudaMemcpyDeviceToDevice, stream);
      }
      frame.stream = stream;
      while (!encoder.send(frame)) packets.push_back(encoder.receive().value());
    }
    encoder.flush();
    while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  }
  cudaFree(d_delay);
  cudaStreamDestroy(stream);
  expect_equal(host, packets);
}

TEST_F(SessionParity, PacketsThatStayOnTheDevice) {
  const std::vector<test::Picture> pictures = clip(21, 160, 90);
  Config config;
  config.width = 160, config.height = 90;
  config.preset = Preset::fast;
  std::vector<Packet> host = on_host(config, pictures);
  config.backend = BackendChoice::cuda;
  config.device_output = true;
  config.batch = 4;
  Encoder encoder(config);
  const std::vector<PlacedFrame> frames = place(pictures, PixelFormat::i420, MemoryKind::device);
  std::vector<Packet> packets;
  const auto take = [&](Packet packet) {
    std::vector<std::uint8_t> slices(packet.device_data.size);
    ASSERT_EQ(cudaMemcpy(slices.data(), packet.device_data.data, slices.size(), cudaMemcpyDeviceToHost),
              cudaSuccess);
    packet.data.insert(packet.data.end(), slices.begin(), slices.end());
    packets.push_back(std::move(packet));
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    while (!encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1))))
      take(encoder.receive().value());
  }
  encoder.flush();
  while (auto packet = encoder.receive()) take(std::move(*packet));
  expect_equal(host, packets);
}

// What takes more of the stream than one visit fetches.
TEST_F(SessionParity, NoiseAtTheFinestQuantiser) {
  Config config;
  config.qp = 0, config.preset = Preset::fast;
  std::vector<test::Picture> pictures;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    pictures.push_back(test::make_picture(Content::noise, 320, 240, seed));
  }
  expect_parity(config, pictures, {1, 3, 12});
}

// Single pictures come along with their size, as many bytes as the one before makes likely: here they do not.
TEST_F(SessionParity, SinglePicturesOfChangingSize) {
  Config config;
  config.qp = 20, config.preset = Preset::fast;
  std::vector<test::Picture> pictures;
  for (std::uint32_t seed = 0; seed < 9; ++seed) {
    pictures.push_back(test::make_picture(seed % 4 < 2 ? Content::flat128 : Content::noise, 48, 32, seed));
  }
  expect_parity(config, pictures, {1});
}

TEST_F(SessionParity, LowLatencyNeedsNoCompany) {
  const std::vector<test::Picture> pictures = clip(6, 64, 64);
  Config config;
  config.width = config.height = 64;
  config.batch = 1;
  config.backend = BackendChoice::cuda;
  Encoder encoder(config);
  for (const PlacedFrame& frame : place(pictures, PixelFormat::i420, MemoryKind::host)) {
    ASSERT_TRUE(encoder.send(frame.view()));
    std::optional<Packet> packet;
    for (int i = 0; i < 1000000 && !packet; ++i) packet = encoder.receive();  // ready without another frame
    ASSERT_TRUE(packet);
  }
}

TEST_F(SessionParity, SeveralDevicesAndSeveralEncoders) {
  const std::vector<test::Picture> pictures = clip(70, 96, 80);
  Config config;
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
  // Two encoders whose calls alternate.
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
  Config config;
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
  Encoder encoder(config);  // the failure before left nothing behind
  const PlacedFrame on_host(FramePlanes(test::make_picture(Content::natural, 64, 64), PixelFormat::i420, 0),
                            MemoryKind::host);
  Frame frame = on_host.view();
  frame.memory = MemoryKind::device;
  EXPECT_EQ(code_of([&] { encoder.send(frame); }), ErrorCode::bad_input);
}

TEST_F(SessionParity, MemoryIsWhatWasSaid) {
  Config config;
  config.width = 1920, config.height = 1080;
  config.backend = BackendChoice::cuda;
  const MemoryRequirement required = memory_required(config);
  EXPECT_GT(required.batch, 0);
  EXPECT_LE(required.device, std::size_t{4} << 30);
  std::size_t before = 0, after = 0, total = 0;
  { Encoder warm_up(config); }
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  Encoder encoder(config);
  EXPECT_EQ(encoder.info().batch, required.batch);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_LE(before - after, required.device + (std::size_t{32} << 20));
}

}  // namespace
}  // namespace cu264::parity
