// Encoders that are reused, waited for and opened from cached memory give the bytes of the CPU backend.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <vector>

#include "common/cuda/memory_cache.h"
#include "cu264/device.h"
#include "support/encode.h"
#include "tests/parity/session_checks.h"
#include "tests/support/stream_group_checks.h"

namespace cu264::parity {
namespace {

using namespace std::chrono_literals;
using test::Content;

class ReuseParity : public SessionParity {
 protected:
  static std::vector<test::Picture> clip(int pictures, int width, int height, std::uint32_t seed = 1) {
    std::vector<test::Picture> frames;
    for (int i = 0; i < pictures; ++i) {
      frames.push_back(
          test::make_picture(Content::natural, width, height, seed + static_cast<std::uint32_t>(i / 2)));
    }
    return frames;
  }

  static Config config_of(int width, int height, int batch) {
    Config config = test::baseline_config();
    config.width = width, config.height = height, config.batch = batch;
    config.preset = Preset::fast;
    config.backend = BackendChoice::cuda;
    return config;
  }

  static std::vector<Packet> encode_with(Encoder& encoder, const std::vector<test::Picture>& pictures) {
    std::vector<Packet> packets;
    const std::vector<PlacedFrame> frames = place(pictures, PixelFormat::i420, MemoryKind::host);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      while (!encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1)))) {
        packets.push_back(encoder.receive().value());
      }
    }
    encoder.flush();
    while (auto packet = encoder.receive(60s)) packets.push_back(std::move(*packet));
    return packets;
  }
};

TEST_F(ReuseParity, ClipsOfOneEncoder) {
  for (const int batch : {1, 3, 0}) {
    for (const char* const aq : {"off", "variance"}) {
      Config config = config_of(50, 40, batch);
      config.set("aq", aq);
      Encoder encoder(config);
      for (const int pictures : {7, 1, 12}) {
        SCOPED_TRACE("batch " + std::to_string(batch) + ", aq " + aq + ", pictures " +
                     std::to_string(pictures));
        const std::vector<test::Picture> frames = clip(pictures, 50, 40);
        expect_equal(on_host(config, frames), encode_with(encoder, frames));
      }
    }
  }
}

// The memory of the largest size serves the others.
TEST_F(ReuseParity, SizesOfOneEncoder) {
  Config config = config_of(96, 80, 4);
  Encoder encoder(config);
  encode_with(encoder, clip(5, 96, 80));  // takes memory for frames from the host
  const std::uint64_t before = memory_cache_state(0).driver_requests;
  struct {
    int width, height;
    Preset preset;
  } const sizes[] = {
      {48, 80, Preset::fast}, {96, 80, Preset::balanced}, {33, 17, Preset::fast}, {96, 80, Preset::best}};
  for (const auto& [width, height, preset] : sizes) {
    ConfigChanges changes;
    changes.width = width, changes.height = height, changes.preset = preset;
    encoder.reconfigure(changes);
    config.width = width, config.height = height, config.preset = preset;
    const std::vector<test::Picture> frames = clip(6, width, height);
    expect_equal(on_host(config, frames), encode_with(encoder, frames));
  }
  EXPECT_EQ(memory_cache_state(0).driver_requests, before);
}

TEST_F(ReuseParity, OpenedAgainFromCachedMemory) {
  const Config config = config_of(64, 48, 2);
  const std::vector<test::Picture> frames = clip(5, 64, 48);
  const std::vector<Packet> host = on_host(config, frames);
  std::uint64_t requests = 0;
  for (int round = 0; round < 4; ++round) {
    Encoder encoder(config);
    expect_equal(host, encode_with(encoder, frames));
    if (round == 0) requests = memory_cache_state(0).driver_requests;
  }
  EXPECT_EQ(memory_cache_state(0).driver_requests, requests);
  EXPECT_EQ(memory_cache_state(0).taken_bytes, 0u);
  EXPECT_GT(memory_cache_state(0).kept_bytes, 0u);
  release_cached_memory();
  EXPECT_EQ(memory_cache_state(0).kept_bytes, 0u);
  EXPECT_EQ(memory_cache_state(kPinnedMemory).kept_bytes, 0u);
}

// Takes all of the device's free memory.
class Hoard {
 public:
  Hoard() {
    for (std::size_t bytes = std::size_t{1} << 38; bytes >= std::size_t{64} << 10;) {
      void* d_memory = nullptr;
      if (cudaMalloc(&d_memory, bytes) == cudaSuccess) {
        d_pieces_.push_back(d_memory);
      } else {
        cudaGetLastError();
        bytes /= 2;
      }
    }
  }
  ~Hoard() {
    for (void* const d_piece : d_pieces_) cudaFree(d_piece);
  }

 private:
  std::vector<void*> d_pieces_;
};

// The cache gives way to an encoder that needs memory, and an encoder that cannot have any leaves nothing
// behind.
TEST_F(ReuseParity, MemoryTakenByOthers) {
  if (cuda_devices().at(0).name == "emulator") GTEST_SKIP() << "its memory is the host's";
  const std::vector<test::Picture> frames = clip(4, 64, 48);
  const Config config = config_of(64, 48, 2);
  const std::vector<Packet> host = on_host(config, frames);
  Encoder running(config);
  expect_equal(host, encode_with(running, frames));
  { const Encoder large(config_of(512, 512, 64)); }
  EXPECT_GT(memory_cache_state(0).kept_bytes, std::size_t{100} << 20);
  const Hoard hoard;
  {
    Encoder small(config);
    EXPECT_EQ(memory_cache_state(0).kept_bytes, 0u);
    expect_equal(host, encode_with(small, frames));
  }
  release_cached_memory();
  const Hoard rest;
  const std::size_t taken = memory_cache_state(0).taken_bytes;
  try {
    const Encoder large(config_of(512, 512, 64));
    ADD_FAILURE() << "there was memory left";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
  }
  EXPECT_EQ(memory_cache_state(0).taken_bytes, taken);
  expect_equal(host, encode_with(running, frames));
}

// Streams larger than the window through which the host reads them.
TEST_F(ReuseParity, LargeStreams) {
  for (const int batch : {1, 5}) {
    Config config = config_of(80, 64, batch);
    config.qp = 0;
    std::vector<test::Picture> frames;
    for (const Content content :
         {Content::flat16, Content::noise, Content::graded_noise, Content::noise, Content::natural}) {
      frames.push_back(test::make_picture(content, 80, 64));
    }
    Encoder encoder(config);
    for (int round = 0; round < 2; ++round)
      expect_equal(on_host(config, frames), encode_with(encoder, frames));
  }
}

TEST_F(ReuseParity, WaitingAndDescriptor) {
  const std::vector<test::Picture> pictures = clip(6, 64, 64);
  const std::vector<PlacedFrame> frames = place(pictures, PixelFormat::i420, MemoryKind::host);
  const Config config = config_of(64, 64, 2);
  const std::vector<Packet> host = on_host(config, pictures);
  Encoder encoder(config);
  const int descriptor = encoder.ready_descriptor();
  std::vector<Packet> packets;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ASSERT_TRUE(encoder.send(frames[i].view(static_cast<std::int64_t>(3 * i + 1))));
    if (i % 2 == 0) {
      EXPECT_FALSE(encoder.receive(60s));  // half a batch: nothing can come
    }
    while (packets.size() < i / 2 * 2 + (i % 2) * 2) {
      pollfd entry{descriptor, POLLIN, 0};
      ASSERT_EQ(poll(&entry, 1, 60000), 1);
      while (auto packet = encoder.receive(0s)) packets.push_back(std::move(*packet));
    }
  }
  expect_equal(host, packets);
}

class StreamGroupParity : public ReuseParity {
 protected:
  static StreamGroupConfig config_of(int batch, int in_flight = 2) {
    StreamGroupConfig config;
    config.backend = BackendChoice::cuda;
    config.batch = batch, config.batches_in_flight = in_flight;
    return config;
  }
};

TEST_F(StreamGroupParity, StreamsAreCodedAsAlone) {
  for (const int in_flight : {1, 3}) test::expect_streams_as_alone(config_of(4, in_flight), 3);
  test::expect_streams_as_alone(config_of(0), 2);
}

TEST_F(StreamGroupParity, ManyThreadsUseThem) {
  test::expect_threads_as_alone(config_of(3), 4);
}

TEST_F(StreamGroupParity, ClipsFollowOneAnother) {
  test::expect_clips_as_alone(config_of(2));
}

TEST_F(StreamGroupParity, AFloodingStreamDelaysNoOther) {
  test::expect_fairness(config_of(2, 1));
}

TEST_F(StreamGroupParity, BadFramesHarmOneStreamOnly) {
  test::expect_bad_frames_refused(config_of(2));
}

TEST_F(StreamGroupParity, MayEndAtAnyTime) {
  for (int i = 0; i < 12; ++i) test::tear_down_under_load(config_of(4), i);
  release_cached_memory();
  EXPECT_EQ(memory_cache_state(0).taken_bytes, 0u);
}

}  // namespace
}  // namespace cu264::parity
