// Callers with a CUDA context of their own, or with none: every call of the library does its work in the
// device's primary context, and the caller's context is current afterwards. Frames and streams of the
// caller's context give the bytes that frames in host memory give.
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cu264/canny.h"
#include "cu264/device.h"
#include "cu264/protect.h"
#include "cu264/stream_group.h"
#include "cu264/vle.h"
#include "support/encode.h"
#include "tests/parity/callers_context.h"
#include "tests/parity/session_checks.h"

namespace cu264::parity {
namespace {

constexpr int kWidth = 50, kHeight = 34, kPictures = 9;

using WriteFrame = std::function<Frame(std::size_t)>;

void expect_context(CUcontext expected, const char* call) {
  EXPECT_EQ(context_of_thread(), expected) << "after " << call;
}

// Runs in a thread of its own, which has no current context.
void on_new_thread(const std::function<void()>& work) {
  std::exception_ptr error;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
  });
  thread.join();
  if (error) std::rethrow_exception(error);
}

// Encodes the clip, and looks at the current context after every call.
std::vector<Packet> encode_in(CUcontext context, const Config& config, const WriteFrame& write) {
  std::vector<Packet> packets;
  auto encoder = std::make_unique<Encoder>(config);
  expect_context(context, "opening");
  const auto take = [&] {
    auto packet = encoder->receive();
    expect_context(context, "receive");
    if (packet) packets.push_back(std::move(*packet));
    return packet.has_value();
  };
  for (std::size_t i = 0; i < kPictures; ++i) {
    const Frame frame = write(i);
    while (!encoder->send(frame)) take();
    expect_context(context, "send");
  }
  encoder->flush();
  expect_context(context, "flush");
  while (take()) {
  }
  encoder.reset();
  expect_context(context, "the encoder's end");
  return packets;
}

// The same with a group of streams.
std::vector<Packet> encode_in_group(CUcontext context, const Config& config, const WriteFrame& write) {
  constexpr std::chrono::seconds kPatience{60};
  std::vector<Packet> packets;
  StreamGroupConfig of_group;
  of_group.backend = BackendChoice::cuda;
  of_group.batch = 4;
  auto group = std::make_unique<StreamGroup>(of_group);
  expect_context(context, "opening a group");
  const StreamGroup::Stream stream = group->open(config);
  expect_context(context, "opening a stream");
  const auto take = [&] {
    auto packet = group->receive(stream, kPatience);
    expect_context(context, "receive");
    if (packet) packets.push_back(std::move(*packet));
    return packet.has_value();
  };
  for (std::size_t i = 0; i < kPictures; ++i) {
    const Frame frame = write(i);
    while (!group->submit(stream, frame)) take();
    expect_context(context, "submit");
  }
  group->flush(stream);
  expect_context(context, "flush");
  while (take()) {
  }
  group->close(stream);
  expect_context(context, "close");
  group.reset();
  expect_context(context, "the group's end");
  return packets;
}

class ContextsParity : public SessionParity {
 protected:
  // Constant QP, which reads frames late; a crf, for which they are measured first; and P pictures.
  static std::vector<Config> configs() {
    Config config = test::baseline_config();
    config.width = kWidth, config.height = kHeight;
    config.preset = Preset::fast;
    config.batch = 4;
    std::vector<Config> all(3, config);
    all[0].qp = 24;
    all[1].crf = 24;
    all[2].qp = 26, all[2].gop = 4;
    return all;
  }

  static Config on_device(Config config) {
    config.backend = BackendChoice::cuda;
    return config;
  }

  static std::vector<FramePlanes> planes_of(const std::vector<test::Picture>& pictures, PixelFormat format) {
    std::vector<FramePlanes> planes;
    for (const test::Picture& picture : pictures) planes.emplace_back(picture, format, 0);
    return planes;
  }

  const std::vector<test::Picture> pictures_ = clip(kPictures, kWidth, kHeight);
};

using Encode = std::vector<Packet> (*)(CUcontext, const Config&, const WriteFrame&);
constexpr Encode kEncodes[] = {encode_in, encode_in_group};

// The frames are written late on a stream of the caller's context and on its default stream.
TEST_F(ContextsParity, FramesOfACallersContext) {
  for (Config config : configs()) {
    for (const PixelFormat format : {PixelFormat::nv12, PixelFormat::rgb24}) {
      config.input_format = format;
      const std::vector<Packet> host = on_host(config, pictures_);
      for (const Encode encode : kEncodes) {
        for (const bool by_default : {false, true}) {
          SCOPED_TRACE(text(config) + (encode == encode_in ? ", encoder" : ", group") +
                       (by_default ? ", default stream" : ", stream of its own"));
          std::vector<Packet> packets;
          on_new_thread([&] {
            CallersContext context;
            const ContextClip frames(context, planes_of(pictures_, format));
            const cudaStream_t stream = by_default ? nullptr : context.stream();
            const WriteFrame write = [&](std::size_t i) { return frames.write(i, stream); };
            packets = encode(context.get(), on_device(config), write);
          });
          expect_equal(host, packets);
          // The library's memory did not end with the context.
          expect_equal(host, parity::encode(on_device(config), place(pictures_, format, MemoryKind::device)));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A stream of the caller's context is known as such while another context, or none, is current.
TEST_F(ContextsParity, StreamsOfAnotherContext) {
  const Config config = configs()[0];
  const std::vector<Packet> host = on_host(config, pictures_);
  std::vector<Packet> packets;
  on_new_thread([&] {
    CallersContext context;
    const ContextClip frames(context, planes_of(pictures_, PixelFormat::i420));
    std::vector<Frame> written;
    for (std::size_t i = 0; i < kPictures; ++i) written.push_back(frames.write(i, context.stream()));
    on_new_thread(
        [&] { packets = encode_in(nullptr, on_device(config), [&](std::size_t i) { return written[i]; }); });
  });
  expect_equal(host, packets);
}

// Frames in host memory and in memory of the primary context, from threads with a context and without.
TEST_F(ContextsParity, FramesOfElsewhere) {
  for (const Config& config : configs()) {
    const std::vector<Packet> host = on_host(config, pictures_);
    for (const MemoryKind memory : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
      const std::vector<PlacedFrame> frames = place(pictures_, PixelFormat::i420, memory);
      const WriteFrame write = [&](std::size_t i) {
        return frames[i].view(static_cast<std::int64_t>(3 * i + 1));
      };
      for (const Encode encode : kEncodes) {
        SCOPED_TRACE(text(config) + (encode == encode_in ? ", encoder" : ", group") + ", memory " +
                     std::to_string(static_cast<int>(memory)));
        std::vector<Packet> without, with;
        on_new_thread([&] { without = encode(nullptr, on_device(config), write); });
        on_new_thread([&] {
          const CallersContext context;
          with = encode(context.get(), on_device(config), write);
        });
        expect_equal(host, without);
        expect_equal(host, with);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(ContextsParity, ErrorsLeaveTheContext) {
  Config config = on_device(configs()[0]);
  const std::vector<PlacedFrame> frames = place(pictures_, PixelFormat::i420, MemoryKind::host);
  Frame bad = frames[0].view();
  bad.memory = MemoryKind::device;
  Config impossible = config;
  impossible.devices = {200};
  const auto try_all = [&](CUcontext context) {
    EXPECT_THROW(Encoder{impossible}, Error);
    expect_context(context, "opening a device that there is not");
    Encoder encoder(config);
    EXPECT_THROW(encoder.send(bad), Error);
    expect_context(context, "a bad frame");
    StreamGroupConfig of_group;
    of_group.backend = BackendChoice::cuda;
    StreamGroup group(of_group);
    const StreamGroup::Stream stream = group.open(config);
    EXPECT_THROW(group.submit(stream, bad), Error);
    expect_context(context, "a bad frame of a group");
  };
  on_new_thread([&] { try_all(nullptr); });
  on_new_thread([&] {
    const CallersContext context;
    try_all(context.get());
  });
}

TEST_F(ContextsParity, QuestionsLeaveTheContext) {
  const Config config = on_device(configs()[1]);
  const auto ask_all = [&](CUcontext context) {
    EXPECT_FALSE(cuda_devices().empty());
    expect_context(context, "cuda_devices");
    EXPECT_GT(memory_required(config).device, 0u);
    expect_context(context, "memory_required");
    release_cached_memory();
    expect_context(context, "release_cached_memory");
  };
  on_new_thread([&] { ask_all(nullptr); });
  on_new_thread([&] {
    const CallersContext context;
    ask_all(context.get());
  });
}

// Edges of pictures in memory of the caller's context, which is written late.
TEST_F(ContextsParity, Edges) {
  constexpr std::size_t kBytes = std::size_t{kWidth} * kHeight;
  canny::ExecutionOptions execution;
  execution.backend = BackendChoice::cpu;
  std::vector<std::uint8_t> expected(kBytes), found;
  const FramePlanes picture(pictures_[0], PixelFormat::gray8, 0);
  canny::Detector on_cpu({}, kWidth, kHeight, execution);
  on_cpu.detect({picture.plane[0].data(), kWidth}, {expected.data(), kWidth});
  execution.backend = BackendChoice::cuda;
  for (const bool by_default : {false, true}) {
    on_new_thread([&] {
      CallersContext context;
      const ContextClip frames(context, {picture});
      const cudaStream_t stream = by_default ? nullptr : context.stream();
      std::uint8_t* const d_edges = context.allocate(kBytes);
      auto detector = std::make_unique<canny::Detector>(canny::Params{}, kWidth, kHeight, execution);
      expect_context(context.get(), "opening a detector");
      const Frame frame = frames.write(0, stream);
      detector->detect({frame.plane[0], kWidth}, {d_edges, kWidth}, nullptr, MemoryKind::device, stream);
      expect_context(context.get(), "detect");
      context.synchronise(stream);
      found = context.download(d_edges, kBytes);
      std::vector<std::uint8_t> from_host(kBytes);
      detector->detect({picture.plane[0].data(), kWidth}, {from_host.data(), kWidth});
      expect_context(context.get(), "detect in host memory");
      EXPECT_EQ(from_host, expected);
      detector.reset();
      expect_context(context.get(), "the detector's end");
    });
    EXPECT_EQ(found, expected) << (by_default ? "default stream" : "stream of its own");
  }
}

TEST_F(ContextsParity, Compression) {
  std::vector<std::uint8_t> input(100'000);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::uint8_t>(i * i >> 7 & 31);
  vle::StreamOptions options;
  options.backend = BackendChoice::cpu;
  const std::vector<std::uint8_t> expected = vle::compress(input, options);
  options.backend = BackendChoice::cuda;
  const auto both_ways = [&](CUcontext context) {
    const std::vector<std::uint8_t> found = vle::compress(input, options);
    expect_context(context, "compress");
    EXPECT_EQ(found, expected);
    EXPECT_EQ(vle::expand(found, options), input);
    expect_context(context, "expand");
  };
  on_new_thread([&] { both_ways(nullptr); });
  on_new_thread([&] {
    const CallersContext context;
    both_ways(context.get());
  });
}

// Functions that work on a caller's stream alone work in the caller's context.
TEST_F(ContextsParity, Keystream) {
  const KeystreamRange range{7, KeystreamUse::watermark, 5, 3, 101, 32};
  const std::vector<std::uint8_t> secret(ProtectionKey::kBytes, 0x5a);
  const ProtectionKey key{std::span<const std::uint8_t, ProtectionKey::kBytes>(secret)};
  std::vector<std::uint8_t> expected(range.bytes()), found;
  make_keystream(key, range, expected);
  on_new_thread([&] {
    CallersContext context;
    std::uint8_t* const d_out = context.allocate(expected.size());
    make_keystream_on_device(key, range, d_out, context.stream());
    expect_context(context.get(), "make_keystream_on_device");
    found = context.download(d_out, expected.size());
  });
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace cu264::parity
