// Rate control on the device: the same decisions and bytes as on the host, whatever the batch, wherever the
// frames are.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda/memory_cache.h"
#include "cu264/stream_group.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/pipeline.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/rate_settings.h"
#include "encoder/stream_params.h"
#include "support/encode.h"
#include "tests/parity/session_checks.h"
#include "tests/support/quick.h"
#include "tests/support/rate_checks.h"

namespace cu264::parity {
namespace {

class RateControlParity : public SessionParity {
 protected:
  static std::vector<Packet> on_host(Config config, const std::vector<test::Picture>& pictures) {
    config.backend = BackendChoice::cpu;
    Encoder encoder(config);
    return test::encode_with_rate(encoder, pictures);
  }

  // Frames stay where they are until all packets have come.
  static std::vector<Packet> on_device(Config config, const std::vector<PlacedFrame>& frames, int batch) {
    config.backend = BackendChoice::cuda, config.batch = batch;
    Encoder encoder(config);
    std::vector<Packet> packets;
    for (const PlacedFrame& frame : frames) {
      while (!encoder.send(frame.view())) {
        if (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
      }
    }
    encoder.flush();
    while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    return packets;
  }

  static void expect_same(const std::vector<Packet>& device, const std::vector<Packet>& host,
                          const std::string& what) {
    ASSERT_EQ(device.size(), host.size()) << what;
    for (std::size_t n = 0; n < host.size(); ++n) {
      ASSERT_EQ(device[n].stats.mean_qp, host[n].stats.mean_qp) << what << ", picture " << n;
      ASSERT_EQ(device[n].data, host[n].data) << what << ", picture " << n;
      ASSERT_EQ(device[n].stats.codings, host[n].stats.codings) << what << ", picture " << n;
      ASSERT_EQ(device[n].stats.buffer_bits, host[n].stats.buffer_bits) << what << ", picture " << n;
    }
  }
};

TEST_F(RateControlParity, SmallCase) {
  test::QuickCases cases(2);
  const std::vector<test::Picture> pictures = test::cuts_of(48, 32, 30);
  for (const test::RateMode& mode : test::rate_modes(48, 32)) {
    const std::vector<Packet> host = on_host(mode.config, pictures);
    for (const int batch : {1, 7, 0}) {
      if (cases.leave_out()) continue;
      const auto frames =
          place(pictures, PixelFormat::i420, batch == 7 ? MemoryKind::device : MemoryKind::host);
      expect_same(on_device(mode.config, frames, batch), host,
                  std::string(mode.name) + ", batch " + std::to_string(batch));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(RateControlParity, Drained) {
  const std::vector<test::Picture> pictures = test::cuts_of(48, 32, 30);
  const std::vector<std::size_t> drained = {1, 6, 14, 15, 29};
  for (const test::RateMode& mode : test::rate_modes(48, 32)) {
    Config config = mode.config;
    config.backend = BackendChoice::cpu;
    Encoder on_cpu(config);
    const std::vector<Packet> host = test::encode_draining(on_cpu, pictures, drained);
    for (const int batch : {1, 7, 0}) {
      config.backend = BackendChoice::cuda, config.batch = batch;
      Encoder encoder(config);
      expect_same(test::encode_draining(encoder, pictures, drained), host,
                  std::string(mode.name) + ", batch " + std::to_string(batch));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(RateControlParity, Group) {
  const std::vector<test::Picture> pictures = test::cuts_of(48, 32, 25);
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cuda, group_config.batch = 5;
  StreamGroup group(group_config);
  const auto modes = test::rate_modes(48, 32);
  std::vector<StreamGroup::Stream> streams;
  std::vector<std::vector<Packet>> packets(modes.size());
  for (const test::RateMode& mode : modes) streams.push_back(group.open(mode.config));
  const auto receive = [&](std::size_t s, std::chrono::milliseconds timeout) {
    auto packet = group.receive(streams[s], timeout);
    if (packet) packets[s].push_back(std::move(*packet));
    return packet.has_value();
  };
  for (const test::Picture& picture : pictures) {
    const test::FrameBuffer frame(picture, PixelFormat::i420);
    for (std::size_t s = 0; s < streams.size(); ++s) {
      while (!group.submit(streams[s], frame.view(), std::chrono::milliseconds(1)))
        receive(s, std::chrono::milliseconds(1));
    }
  }
  for (std::size_t s = 0; s < streams.size(); ++s) {
    group.flush(streams[s]);
    while (receive(s, std::chrono::minutes(2))) {
    }
    expect_same(packets[s], on_host(modes[s].config, pictures), modes[s].name);
  }
}

// More pictures than feedback reaches back, in every batch.
TEST_F(RateControlParity, LongClips) {
  const std::vector<test::Picture> pictures = test::cuts_of(96, 64, 700);
  const auto frames = place(pictures, PixelFormat::i420, MemoryKind::pinned);
  for (const test::RateMode& mode : test::rate_modes(96, 64)) {
    const std::vector<Packet> host = on_host(mode.config, pictures);
    for (const int batch : {1, 7, 32, 0}) {
      expect_same(on_device(mode.config, frames, batch), host,
                  std::string(mode.name) + ", batch " + std::to_string(batch));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(RateControlParity, Formats) {
  const std::vector<test::Picture> pictures = test::cuts_of(83, 51, 20);
  for (const PixelFormat format :
       {PixelFormat::nv12, PixelFormat::gray8, PixelFormat::rgb24, PixelFormat::rgb_float_planar}) {
    for (test::RateMode mode : test::rate_modes(83, 51)) {
      mode.config.input_format = format;
      for (const MemoryKind memory : {MemoryKind::device, MemoryKind::pinned}) {
        const std::vector<PlacedFrame> placed = place(pictures, format, memory),
                                       on_cpu = place(pictures, format, MemoryKind::host);
        Config config = mode.config;
        config.backend = BackendChoice::cpu;
        Encoder encoder(config);
        std::vector<Packet> host;
        for (const PlacedFrame& frame : on_cpu) {
          while (!encoder.send(frame.view())) host.push_back(encoder.receive().value());
        }
        encoder.flush();
        while (auto packet = encoder.receive()) host.push_back(std::move(*packet));
        expect_same(on_device(mode.config, placed, 6), host, mode.name);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The slices of every picture that `pipeline` codes, and how often it coded it.
std::vector<std::pair<std::vector<std::uint8_t>, int>> codings_of(encoder::Pipeline& pipeline,
                                                                  const Config& config,
                                                                  const std::vector<PlacedFrame>& frames) {
  std::vector<std::pair<std::vector<std::uint8_t>, int>> codings;
  const auto collect = [&] {
    const encoder::CodedAccessUnit unit = pipeline.collect();
    if (unit.error) std::rethrow_exception(unit.error);
    const auto begin =
        unit.slices.begin() + static_cast<std::ptrdiff_t>(unit.slices.empty() ? 0 : unit.front);
    codings.emplace_back(std::vector<std::uint8_t>(begin, unit.slices.end()), unit.stats.codings);
  };
  encoder::PictureControl control;
  control.settings = encoder::rate_settings(config);
  std::uint64_t index = 0;
  for (const PlacedFrame& frame : frames) {
    if (index - codings.size() == static_cast<std::uint64_t>(pipeline.capacity())) collect();
    pipeline.submit({{frame.view()}, encoder::picture_params(config, index++), control});
  }
  pipeline.release(0, true);
  pipeline.flush();
  while (codings.size() < frames.size()) collect();
  return codings;
}

// Devices take batches in turn, and frames are held for all of them. One GPU plays them all.
TEST_F(RateControlParity, OneDeviceAsSeveral) {
  test::QuickCases cases(2);
  const auto frames = place(test::cuts_of(48, 32, 40), PixelFormat::i420, MemoryKind::host);
  for (const test::RateMode& mode : test::rate_modes(48, 32)) {
    encoder::StreamParams params = encoder::stream_params(mode.config);
    const auto on_cpu = [](const encoder::StreamParams& p, const std::vector<int>&) {
      return encoder::make_cpu_analyser(p);
    };
    const auto on_gpu = [](const encoder::StreamParams& p, const std::vector<int>& devices) {
      return encoder::cuda::make_device_analyser(p, devices.front(), std::max(1, p.execution.batch / 4),
                                                 true);
    };
    encoder::Pipeline cpu(encoder::open_cpu_backend(params), on_cpu, params, {}, 1);
    const auto host = codings_of(cpu, mode.config, frames);
    ASSERT_FALSE(host.front().first.empty()) << mode.name;
    for (const auto& [devices, batch] :
         {std::pair<std::vector<int>, int>{{0, 0}, 1}, {{0, 0}, 7}, {{0, 0, 0}, 4}}) {
      if (cases.leave_out()) continue;
      params.execution.batch = batch;
      encoder::Pipeline gpu(encoder::cuda::open_devices(params, devices, batch), on_gpu, params, devices,
                            batch);
      const auto found = codings_of(gpu, mode.config, frames);
      for (std::size_t i = 0; i < frames.size(); ++i) {
        ASSERT_EQ(host[i], found[i]) << mode.name << ", picture " << i << ", batches of " << batch;
      }
    }
  }
}

TEST_F(RateControlParity, TwoDevices) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) GTEST_SKIP() << "needs two devices";
  const std::vector<test::Picture> pictures = test::cuts_of(96, 64, 120);
  const auto frames = place(pictures, PixelFormat::i420, MemoryKind::host);
  for (test::RateMode mode : test::rate_modes(96, 64)) {
    const std::vector<Packet> host = on_host(mode.config, pictures);
    mode.config.devices = {0, 1};
    for (const int batch : {1, 7, 0}) {
      expect_same(on_device(mode.config, frames, batch), host,
                  std::string(mode.name) + ", batch " + std::to_string(batch));
      if (HasFatalFailure()) return;
    }
  }
}

// A crf codes each picture once, so its packets may stay on the device.
TEST_F(RateControlParity, PacketsThatStayOnTheDevice) {
  const std::vector<test::Picture> pictures = test::cuts_of(48, 32, 30);
  Config config = test::rate_modes(48, 32)[0].config;
  ASSERT_TRUE(config.crf);
  const std::vector<Packet> host = on_host(config, pictures);
  config.backend = BackendChoice::cuda, config.device_output = true;
  for (const int batch : {1, 4, 0}) {
    config.batch = batch;
    Encoder encoder(config);
    std::vector<Packet> packets;
    const auto take = [&](Packet packet) { packets.push_back(downloaded(std::move(packet))); };
    for (const test::Picture& picture : pictures) {
      const test::FrameBuffer frame(picture, PixelFormat::i420);
      while (!encoder.send(frame.view())) take(encoder.receive().value());
    }
    encoder.flush();
    while (auto packet = encoder.receive()) take(std::move(*packet));
    expect_same(packets, host, "batch " + std::to_string(batch));
    if (HasFatalFailure()) return;
  }
}

// Rate control holds frames, which memory_required counts.
TEST_F(RateControlParity, MemoryIsWhatWasSaid) {
  const std::vector<test::Picture> pictures = test::cuts_of(48, 32, 20);
  constexpr std::size_t kSmallPieces = std::size_t{1} << 20;
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::rgb24}) {
    const auto frames = place(pictures, format, MemoryKind::host);
    Config config = test::baseline_config();
    config.width = 48, config.height = 32, config.preset = Preset::fast, config.bitrate = 200000;
    config.backend = BackendChoice::cuda, config.batch = 4, config.input_format = format;
    const MemoryRequirement required = memory_required(config);
    config.bitrate = 0;
    const MemoryRequirement plain = memory_required(config);
    config.bitrate = 200000;
    EXPECT_EQ(required.batch, 4);
    release_cached_memory();
    const auto taken = [](int shelf) { return memory_cache_state(shelf).taken_bytes; };
    const std::size_t device = taken(0), pinned = taken(kPinnedMemory);
    Encoder encoder(config);
    std::size_t sent = 0;
    for (; encoder.send(frames[sent % frames.size()].view()); ++sent) ASSERT_LT(sent, 1000u);
    EXPECT_GE(required.device, plain.device + sent * 48 * 32 * 3 / 2);
    EXPECT_LE(taken(0) - device, required.device + kSmallPieces);
    EXPECT_LE(taken(kPinnedMemory) - pinned, required.pinned + kSmallPieces);
    EXPECT_GE(taken(kPinnedMemory) - pinned + kSmallPieces, required.pinned);
  }
}

// Pictures of a raw I420 file of 1920x1080, named by CU264_PARITY_CLIP.
TEST_F(RateControlParity, RealPictures) {
  const char* const path = std::getenv("CU264_PARITY_CLIP");
  if (path == nullptr) GTEST_SKIP() << "CU264_PARITY_CLIP names no clip";
  constexpr int kWidth = 1920, kHeight = 1080, kPictures = 80;
  std::ifstream file(path, std::ios::binary);
  std::vector<test::Picture> originals, pictures;
  for (test::Picture picture(kWidth, kHeight);
       file.read(reinterpret_cast<char*>(picture.samples.data()),
                 static_cast<std::streamsize>(picture.samples.size()));) {
    originals.push_back(picture);
    if (originals.size() == 12) break;
  }
  ASSERT_FALSE(originals.empty()) << path;
  const test::Picture black(kWidth, kHeight),
      noise = test::make_picture(test::Content::noise, kWidth, kHeight);
  for (int n = 0; n < kPictures; ++n) {
    const bool odd = n % 20 >= 17;
    pictures.push_back(odd ? (n / 20 % 2 == 0 ? black : noise)
                           : originals[static_cast<std::size_t>(n) % originals.size()]);
  }
  const auto frames = place(pictures, PixelFormat::i420, MemoryKind::device);
  for (const Preset preset : {Preset::fast, Preset::balanced}) {
    for (test::RateMode mode : test::rate_modes(kWidth, kHeight)) {
      mode.config.preset = preset;
      const std::vector<Packet> host = on_host(mode.config, pictures);
      for (const int batch : {0, 20}) expect_same(on_device(mode.config, frames, batch), host, mode.name);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
