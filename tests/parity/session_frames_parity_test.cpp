// Whole sessions with frames of every format and in every kind of memory, frames that are still being
// written, and packets that stay on the device.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/encode.h"
#include "tests/parity/session_checks.h"

namespace cu264::parity {
namespace {

using test::Content;
using SessionFramesParity = SessionParity;

constexpr PixelFormat kFormats[] = {PixelFormat::i420,
                                    PixelFormat::nv12,
                                    PixelFormat::gray8,
                                    PixelFormat::rgb24,
                                    PixelFormat::bgr24,
                                    PixelFormat::rgba32,
                                    PixelFormat::rgb_planar,
                                    PixelFormat::rgb_float_planar,
                                    PixelFormat::rgb_float,
                                    PixelFormat::rgb_half,
                                    PixelFormat::rgb_half_planar,
                                    PixelFormat::rgb_bfloat16,
                                    PixelFormat::bgra32,
                                    PixelFormat::rgb_bfloat16_planar};

TEST_F(SessionFramesParity, FormatsInEveryKindOfMemory) {
  for (const PixelFormat format : kFormats) {
    for (const auto& [width, height] : {std::pair{130, 66}, std::pair{33, 35}, std::pair{1, 1}}) {
      const std::vector<test::Picture> pictures = clip(9, width, height);
      Config config = test::baseline_config();
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

TEST_F(SessionFramesParity, OddPitches) {
  const std::vector<test::Picture> pictures = clip(9, 98, 50);
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::rgb24}) {
    Config config = test::baseline_config();
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

// The frames to encode are written on the caller's stream, for which the encoder must wait.
TEST_F(SessionFramesParity, WaitsForTheCallersStream) {
  const int width = 640, height = 480, count = 8;
  const std::vector<test::Picture> pictures = clip(count, width, height);
  Config config = test::baseline_config();
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
      for (int k = 0; k < 20; ++k)
        cudaMemsetAsync(d_delay, k, kDelayBytes, stream);  // keeps the stream busy for a while
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

TEST_F(SessionFramesParity, PacketsThatStayOnTheDevice) {
  const std::vector<test::Picture> pictures = clip(21, 160, 90);
  Config config = test::baseline_config();
  config.width = 160, config.height = 90;
  config.preset = Preset::fast;
  std::vector<Packet> host = on_host(config, pictures);
  config.backend = BackendChoice::cuda;
  config.device_output = true;
  config.batch = 4;
  Encoder encoder(config);
  const std::vector<PlacedFrame> frames = place(pictures, PixelFormat::i420, MemoryKind::device);
  std::vector<Packet> packets;
  const auto take = [&](Packet packet) { packets.push_back(downloaded(std::move(packet))); };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    while (!encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1))))
      take(encoder.receive().value());
  }
  encoder.flush();
  while (auto packet = encoder.receive()) take(std::move(*packet));
  expect_equal(host, packets);
}

}  // namespace
}  // namespace cu264::parity
