// P pictures: the packets of the CUDA backend are those of the CPU backend, whatever lies together in a
// batch.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda/memory_cache.h"
#include "cu264/device.h"
#include "cu264/stream_group.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/pipeline.h"
#include "encoder/session.h"
#include "tests/parity/session_checks.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using test::Motion;
using namespace std::chrono_literals;

constexpr Preset kCodedPresets[] = {Preset::fast, Preset::balanced, Preset::best};

struct Coding {
  Profile profile;
  bool cavlc;
};
constexpr Coding kCodings[] = {
    {Profile::high, false}, {Profile::baseline, false}, {Profile::main, false}, {Profile::high, true}};

Config gop_config(Preset preset, const Coding& coding, int gop, int qp) {
  Config config;
  config.preset = preset, config.gop = gop, config.qp = qp, config.reconstruction = true;
  config.profile = coding.profile, config.cavlc = coding.cavlc;
  return config;
}

class PPicturesParity : public SessionParity {
 protected:
  // Sizes of batches that a case is coded with: in a quick run one of `all`, and the next one for the next
  // case.
  std::vector<int> batches(std::vector<int> all) {
    if (test::quick()) all = {all[case_++ % all.size()]};
    return all;
  }

 private:
  std::size_t case_ = 0;
};

TEST_F(PPicturesParity, SmallCase) {
  test::QuickCases cases(5);
  for (const Preset preset : kCodedPresets) {
    for (const Coding& coding : kCodings) {
      for (const Motion motion : {Motion::slow, Motion::noisy, Motion::cut}) {
        if (cases.leave_out()) continue;
        SCOPED_TRACE(test::name_of(motion));
        expect_parity(gop_config(preset, coding, 3, 26), test::make_clip(motion, 52, 34, 5), {4});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(PPicturesParity, EveryMotionAndQp) {
  test::QuickCases cases(40);
  for (const Preset preset : kCodedPresets) {
    for (const Coding& coding : kCodings) {
      for (const Motion motion : test::kMotions) {
        for (const int qp : {0, 8, 17, 25, 33, 42, 51}) {
          if (cases.leave_out()) continue;
          SCOPED_TRACE(test::name_of(motion));
          Config config = gop_config(preset, coding, 4, qp);
          config.slices = 1 + qp % 3;
          config.deblock = qp != 42;
          if (qp % 2 == 1) config.aq = AdaptiveQuantisation::variance;
          expect_parity(config, test::make_clip(motion, 100, 82, 7), batches({1, 3, 7}));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(PPicturesParity, Sizes) {
  test::QuickCases cases(4);
  for (const auto& [width, height] :
       {std::pair{1, 1}, {16, 16}, {2, 50}, {50, 2}, {17, 33}, {130, 16}, {16, 130}, {640, 368}}) {
    if (cases.leave_out()) continue;
    for (const Motion motion : {Motion::slow, Motion::fast, Motion::objects}) {
      Config config = gop_config(Preset::fast, kCodings[0], 0, 27);
      expect_parity(config, test::make_clip(motion, width, height, 4), {2});
      if (HasFatalFailure()) return;
    }
  }
}

// GOPs of a batch lie beside each other, and go on in the next batch.
TEST_F(PPicturesParity, GopsAndBatches) {
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 48, 48, 19);
  test::QuickCases cases(3);
  for (const int gop : {0, 2, 3, 5, 30}) {
    for (const bool aq : {false, true}) {
      if (cases.leave_out()) continue;
      Config config = gop_config(Preset::fast, kCodings[0], gop, 29);
      if (aq) config.aq = AdaptiveQuantisation::variance;
      expect_parity(config, clip, batches({1, 2, 7, 19}));
      if (HasFatalFailure()) return;
    }
  }
}

// Callers ask for key pictures and QPs, and begin clips anew.
TEST_F(PPicturesParity, FramesSayMore) {
  const std::vector<test::Picture> clip = test::make_clip(Motion::slow, 64, 48, 14);
  const auto code = [&](BackendChoice backend, int batch) {
    Config config = gop_config(Preset::balanced, kCodings[0], 0, 24);
    config.width = 64, config.height = 48, config.backend = backend, config.batch = batch;
    Encoder encoder(config);
    std::vector<Packet> packets;
    const std::vector<PlacedFrame> frames = place(clip, PixelFormat::i420, MemoryKind::host);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < frames.size(); ++i) {
        Frame frame = frames[i].view(static_cast<std::int64_t>(i));
        frame.key = i % 5 == 3 || i == 9;
        if (i % 4 == 1) frame.qp = 20 + static_cast<int>(i);
        while (!encoder.send(frame)) packets.push_back(encoder.receive().value());
      }
      encoder.flush();
      while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    }
    return packets;
  };
  const std::vector<Packet> host = code(BackendChoice::cpu, 0);
  for (const int batch : {1, 5, 14}) expect_equal(host, code(BackendChoice::cuda, batch));
}

// Pictures that are coded again, or left out, are predicted as if they had not been there.
TEST_F(PPicturesParity, RateControl) {
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 96, 80, 12);
  for (const int mode : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(mode);
    Config config = gop_config(Preset::fast, kCodings[0], 5, 27);
    if (mode == 0) config.crf = 24;
    if (mode == 1) config.bitrate = 300000;
    if (mode == 2) config.bitrate = 250000, config.cbr = true;
    if (mode == 3) config.max_frame_bytes = 900;
    if (mode == 4) config.max_frame_bytes = 500, config.on_overflow = OnOverflow::drop;
    expect_parity(config, clip, batches({1, 4}));
    if (HasFatalFailure()) return;
  }
}

TEST_F(PPicturesParity, StreamsOfAGroup) {
  constexpr int kStreams = 3, kPictures = 6;
  std::vector<std::vector<test::Picture>> clips;
  for (std::uint32_t s = 0; s < kStreams; ++s)
    clips.push_back(test::make_clip(Motion::noisy, 48, 32, kPictures, s + 1));
  const auto code = [&](BackendChoice backend) {
    StreamGroupConfig group_config;
    group_config.backend = backend;
    StreamGroup group(group_config);
    std::vector<StreamGroup::Stream> ids;
    std::vector<std::vector<PlacedFrame>> frames;
    for (int s = 0; s < kStreams; ++s) {
      Config config = gop_config(Preset::fast, kCodings[0], 2 + s, 25 + s);
      config.width = 48, config.height = 32;
      ids.push_back(group.open(config));
      frames.push_back(place(clips[static_cast<std::size_t>(s)], PixelFormat::i420, MemoryKind::host));
    }
    std::vector<std::vector<Packet>> packets(kStreams);
    const auto take = [&](std::size_t s, std::chrono::seconds timeout) {
      auto packet = group.receive(ids[s], timeout);
      if (packet) packets[s].push_back(std::move(*packet));
      return packet.has_value();
    };
    for (std::size_t i = 0; i < kPictures; ++i) {
      for (std::size_t s = 0; s < kStreams; ++s) {
        while (!group.submit(ids[s], frames[s][i].view(static_cast<std::int64_t>(i)), {})) take(s, 60s);
      }
    }
    for (std::size_t s = 0; s < kStreams; ++s) {
      group.flush(ids[s]);
      while (take(s, 60s)) continue;
    }
    return packets;
  };
  const auto host = code(BackendChoice::cpu), device = code(BackendChoice::cuda);
  for (std::size_t s = 0; s < kStreams; ++s) expect_equal(host[s], device[s]);
}

TEST_F(PPicturesParity, PacketsThatStayOnTheDevice) {
  test::QuickCases cases(5);
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 48, 32, 11);
  for (const bool crf : {false, true}) {
    for (const Coding& coding : {kCodings[0], kCodings[3]}) {
      Config config = gop_config(Preset::fast, coding, 4, 27);
      config.width = 48, config.height = 32;
      if (crf) config.crf = 27;
      const std::vector<Packet> host = on_host(config, clip);
      const std::vector<PlacedFrame> frames = place(clip, PixelFormat::i420, MemoryKind::device);
      config.backend = BackendChoice::cuda, config.device_output = true;
      for (const int batch : {1, 5, 11}) {
        if (cases.leave_out()) continue;
        config.batch = batch;
        SCOPED_TRACE(text(config));
        Encoder encoder(config);
        std::vector<Packet> packets;
        const auto take = [&](Packet packet) {
          EXPECT_GT(packet.device_data.size, 0u);
          packets.push_back(downloaded(std::move(packet)));
        };
        for (std::size_t i = 0; i < frames.size(); ++i) {
          while (!encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1))))
            take(encoder.receive().value());
        }
        encoder.flush();
        while (auto packet = encoder.receive()) take(std::move(*packet));
        expect_equal(host, packets);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A stream's packets from a pipeline.
std::vector<Packet> packets_of(encoder::Pipeline& pipeline, const Config& config,
                               const std::vector<PlacedFrame>& frames) {
  encoder::Session session(config);
  std::vector<Packet> packets;
  const auto collect = [&] {
    if (auto packet = session.packet_of(pipeline.collect())) packets.push_back(std::move(*packet));
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (session.pending() == static_cast<std::size_t>(pipeline.capacity())) collect();
    Frame frame = frames[i].view(static_cast<std::int64_t>(3 * i + 1));
    frame.key = i % 7 == 5;
    encoder::Job job = session.next_job(frame);
    job.frame.frame = frame;
    EXPECT_EQ(pipeline.submit(std::move(job)), nullptr);
    session.sent(frame);
  }
  session.flush();
  pipeline.release(0, true);
  pipeline.flush();
  while (session.pending() > 0) collect();
  return packets;
}

// GOPs go to devices in turn, and a long one fills its device alone. One GPU plays them all.
TEST_F(PPicturesParity, OneDeviceAsSeveral) {
  test::QuickCases cases(17);
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 48, 32, 31);
  const std::vector<PlacedFrame> frames = place(clip, PixelFormat::i420, MemoryKind::host);
  const auto on_cpu = [](const encoder::StreamParams& p, const std::vector<int>&) {
    return encoder::make_cpu_analyser(p);
  };
  const auto on_gpu = [](const encoder::StreamParams& p, const std::vector<int>& devices) {
    return encoder::cuda::make_device_analyser(p, devices.front(), 2, true);
  };
  for (const int gop : {0, 2, 4, 9}) {
    for (const int mode : {0, 1, 2, 3}) {
      Config config = gop_config(Preset::fast, kCodings[0], gop, 27);
      config.width = 48, config.height = 32;
      if (mode == 1) config.scene_cuts = true;
      if (mode == 2) config.crf = 26, config.aq = AdaptiveQuantisation::off;
      if (mode == 3) config.max_frame_bytes = 500, config.on_overflow = OnOverflow::drop;
      encoder::StreamParams params = encoder::stream_params(config);
      encoder::Pipeline cpu(encoder::open_cpu_backend(params), on_cpu, params, {}, 1);
      const std::vector<Packet> host = packets_of(cpu, config, frames);
      for (const auto& [devices, batch] :
           {std::pair<std::vector<int>, int>{{0, 0}, 1}, {{0, 0}, 5}, {{0, 0, 0}, 3}}) {
        if (cases.leave_out()) continue;
        SCOPED_TRACE(text(config) + ", mode " + std::to_string(mode));
        params.execution.batch = batch;
        encoder::Pipeline gpu(encoder::cuda::open_devices(params, devices, batch), on_gpu, params, devices,
                              batch);
        expect_equal(host, packets_of(gpu, config, frames));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(PPicturesParity, TwoDevices) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) GTEST_SKIP() << "needs two devices";
  const std::vector<test::Picture> clip = test::make_clip(Motion::noisy, 176, 144, 60);
  for (const int gop : {0, 4, 9}) {
    for (const bool cuts : {false, true}) {
      Config config = gop_config(Preset::fast, kCodings[0], gop, 27);
      config.devices = {0, 1}, config.scene_cuts = cuts;
      Config on_cpu = config;
      on_cpu.devices.clear(), on_cpu.width = 176, on_cpu.height = 144;
      const std::vector<Packet> host = on_host(on_cpu, clip);
      config.width = 176, config.height = 144, config.backend = BackendChoice::cuda;
      const std::vector<PlacedFrame> frames = place(clip, PixelFormat::i420, MemoryKind::host);
      for (const int batch : {1, 8, 0}) {
        config.batch = batch;
        expect_equal(host, encode(config, frames));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A group has memory for the streams that it has, and takes none from the driver once they all came.
TEST_F(PPicturesParity, ChainsComeWithStreams) {
  constexpr int kWidth = 320, kHeight = 192, kStreams = 9;
  constexpr std::size_t kSmallPieces = std::size_t{3} << 20;
  Config config = gop_config(Preset::fast, kCodings[0], 30, 30);
  config.reconstruction = false;
  config.width = kWidth, config.height = kHeight, config.backend = BackendChoice::cuda, config.batch = 2;
  const MemoryRequirement alone = memory_required(config);
  const std::size_t chain = [&] {
    std::size_t bytes = 0;
    encoder::cuda::lay_out_chains(encoder::stream_params(config), 1, nullptr, bytes);
    return bytes;
  }();
  config.batch = 0;
  StreamGroupConfig group_config;
  group_config.backend = BackendChoice::cuda, group_config.batch = 2, group_config.batches_in_flight = 1;
  release_cached_memory();
  const std::size_t before = memory_cache_state(0).taken_bytes;
  const auto taken = [&] { return memory_cache_state(0).taken_bytes - before; };
  StreamGroup group(group_config);
  const std::vector<test::Picture> clip = test::make_clip(Motion::slow, kWidth, kHeight, 2);
  const std::vector<PlacedFrame> frames = place(clip, PixelFormat::i420, MemoryKind::device);
  std::vector<StreamGroup::Stream> streams;
  std::vector<std::vector<Packet>> packets(kStreams);
  const auto send_to_all = [&] {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      ASSERT_TRUE(group.submit(streams[s], frames[packets[s].size() % 2].view(), 60s));
      packets[s].push_back(group.receive(streams[s], 60s).value());
    }
  };
  streams.push_back(group.open(config));
  send_to_all();
  EXPECT_LE(taken(), alone.device + kSmallPieces);
  while (streams.size() < kStreams) streams.push_back(group.open(config));
  send_to_all();
  EXPECT_GE(taken(), alone.device + (kStreams - 2) * chain - kSmallPieces);
  EXPECT_LE(taken(), alone.device + 2 * kStreams * chain + kSmallPieces);
  const std::uint64_t requests = memory_cache_state(0).driver_requests;
  for (int i = 0; i < 2; ++i) send_to_all();
  EXPECT_EQ(memory_cache_state(0).driver_requests, requests);
  for (std::size_t s = 2; s < kStreams; ++s) expect_equal(packets[1], packets[s]);
}

}  // namespace
}  // namespace cu264::parity
