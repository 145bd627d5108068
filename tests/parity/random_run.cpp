#include "tests/parity/random_run.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <thread>
#include <utility>

#include "common/cuda/error_check.h"
#include "cu264/encoder.h"
#include "cu264/stream_group.h"
#include "protect/fixed_nonce.h"
#include "tests/parity/random_frames.h"

namespace cu264::parity {
namespace {

// Appends what lies on the device to the packet's data (Config::device_output).
Packet downloaded(Packet packet) {
  const std::size_t before = packet.data.size(), size = packet.device_data.size;
  if (size == 0) return packet;
  packet.data.vector().resize(before + size);
  check_cuda(
      cudaMemcpy(packet.data.vector().data() + before, packet.device_data.data, size, cudaMemcpyDeviceToHost),
      "downloading a packet");
  packet.device_data = {};
  return packet;
}

void code_clip(Encoder& encoder, const RandomCase& random_case, const RandomClip& clip, bool on_device,
               CodedClip& coded) {
  FrameSource source(clip, random_case.placement, on_device);
  const auto take = [&](std::optional<Packet> packet) {
    if (!packet) return false;
    coded.packets.push_back(downloaded(std::move(*packet)));
    return true;
  };
  coded.headers = encoder.headers();
  for (int i = 0; i < clip.frames; ++i) {
    if (const auto change = clip.changes.find(i); change != clip.changes.end()) {
      encoder.reconfigure(change->second);
    }
    const Frame frame = source.frame(i);
    while (!encoder.send(frame)) take(encoder.receive());
    if (clip.drains.count(i) == 0) continue;
    encoder.drain();
    while (take(encoder.receive())) {
    }
  }
  encoder.flush();
  while (take(encoder.receive())) {
  }
  coded.dropped = encoder.info().dropped;
}

// A stream of a group on its way, which one thread serves.
struct GroupStream {
  StreamGroup& group;
  const RandomCase& plan;
  const bool on_device;
  CodedCase& coded;
  StreamGroup::Stream id = 0;
  std::vector<std::unique_ptr<FrameSource>> sources{};  // of clips begun so far: frames may still be read
  std::optional<Frame> next{};                          // refused, and sent again
  int frame = 0;
  bool done = false;

  void open() {
    const protect::FixedNonce nonce(plan.seed);
    id = group.open(plan.config);
    begin_clip();
  }
  void begin_clip() {
    sources.push_back(std::make_unique<FrameSource>(plan.clips[sources.size()], plan.placement, on_device));
    coded.clips.emplace_back();
    coded.clips.back().headers = group.headers(id);
    frame = 0;
  }
  bool take(std::chrono::nanoseconds timeout) {
    std::optional<Packet> packet = group.receive(id, timeout);
    if (!packet) return false;
    coded.clips.back().packets.push_back(std::move(*packet));
    return true;
  }
  // Sends a frame if there is room, takes a packet if there is one.
  void go_on() {
    const protect::FixedNonce nonce(plan.seed);  // each clip draws one, in the thread that sends its frames
    if (frame < plan.clips[sources.size() - 1].frames) {
      if (!next) next = sources.back()->frame(frame);
      if (group.submit(id, *next, std::chrono::microseconds(100))) {
        ++frame;
        next.reset();
      }
      take({});
      return;
    }
    group.flush(id);
    while (take(std::chrono::seconds(60))) {
    }
    coded.clips.back().dropped = group.info(id).dropped;
    if (sources.size() < plan.clips.size()) {
      begin_clip();
      return;
    }
    group.close(id);
    done = true;
  }
};

void serve(std::vector<GroupStream>& streams, std::size_t first, std::size_t step) {
  bool all_done = false;
  for (bool opened = false; !all_done; opened = true) {
    all_done = true;
    for (std::size_t i = first; i < streams.size(); i += step) {
      GroupStream& stream = streams[i];
      if (stream.done) continue;
      all_done = false;
      try {
        opened ? stream.go_on() : stream.open();
      } catch (const std::exception& error) {
        stream.coded.error = error.what();
        stream.done = true;
      }
    }
  }
}

std::string text(const PictureStats& s) {
  std::ostringstream out;
  out << "qp " << s.qp << " (" << s.mean_qp << ") codings " << s.codings << " I4x4 " << s.intra4x4_mbs
      << " I8x8 " << s.intra8x8_mbs << " I16x16 " << s.intra16x16_mbs << " PCM " << s.pcm_mbs << " inter "
      << s.inter_mbs << " header bits " << s.header_bits << " residual bits " << s.residual_bits;
  return out.str();
}

std::string difference(const Packet& cpu, const Packet& cuda) {
  std::ostringstream out;
  const auto [a, b] = std::mismatch(cpu.data.begin(), cpu.data.end(), cuda.data.begin(), cuda.data.end());
  if (a != cpu.data.end() || b != cuda.data.end()) {
    out << "byte " << a - cpu.data.begin() << " of " << cpu.data.size() << " (cuda " << cuda.data.size()
        << "); ";
  }
  if (text(cpu.stats) != text(cuda.stats)) {
    out << "statistics: cpu " << text(cpu.stats) << ", cuda " << text(cuda.stats) << "; ";
  }
  if (cpu.reconstruction != cuda.reconstruction) out << "reconstruction; ";
  if (cpu.edges != cuda.edges) out << "edge map; ";
  if (cpu.pts != cuda.pts || cpu.index != cuda.index) out << "index or time stamp; ";
  return out.str();
}

}  // namespace

CodedCase code(const RandomCase& random_case, BackendChoice backend) {
  CodedCase coded;
  const bool on_device = backend == BackendChoice::cuda;
  Config config = random_case.config;
  config.backend = backend;
  if (!on_device) config.devices.clear(), config.device_output = false;
  try {
    const protect::FixedNonce nonce(random_case.seed);
    Encoder encoder(config);
    for (const RandomClip& clip : random_case.clips) {
      if (!coded.clips.empty()) encoder.reconfigure(clip.before);
      coded.clips.emplace_back();
      code_clip(encoder, random_case, clip, on_device, coded.clips.back());
    }
  } catch (const std::exception& error) {
    coded.error = error.what();
  }
  return coded;
}

std::vector<CodedCase> code(const RandomGroup& random_group, BackendChoice backend) {
  std::vector<CodedCase> coded(random_group.streams.size());
  StreamGroupConfig config = random_group.config;
  config.backend = backend;
  const bool on_device = backend == BackendChoice::cuda;
  if (!on_device) config.devices.clear();
  auto group = std::make_unique<StreamGroup>(config);
  std::vector<GroupStream> streams;
  for (std::size_t i = 0; i < coded.size(); ++i) {
    streams.push_back({*group, random_group.streams[i], on_device, coded[i]});
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < random_group.threads; ++t) {
    threads.emplace_back([&, t] {
      serve(streams, static_cast<std::size_t>(t), static_cast<std::size_t>(random_group.threads));
    });
  }
  for (std::thread& thread : threads) thread.join();
  group.reset();  // it may still read frames of a stream that ended with an error
  return coded;
}

std::string difference(const CodedCase& cpu, const CodedCase& cuda) {
  if (cpu.error != cuda.error) return "error: cpu '" + cpu.error + "', cuda '" + cuda.error + "'";
  if (!cpu.error.empty()) return {};
  for (std::size_t c = 0; c < cpu.clips.size(); ++c) {
    const CodedClip &a = cpu.clips[c], &b = cuda.clips[c];
    const std::string where = "clip " + std::to_string(c);
    if (a.headers != b.headers) return where + ": headers";
    if (a.packets.size() != b.packets.size() || a.dropped != b.dropped) {
      const auto text_of = [](const CodedClip& clip) {
        return std::to_string(clip.packets.size()) + " packets and " + std::to_string(clip.dropped) +
               " pictures left out";
      };
      return where + ": cpu " + text_of(a) + ", cuda " + text_of(b);
    }
    for (std::size_t i = 0; i < a.packets.size(); ++i) {
      const std::string found = difference(a.packets[i], b.packets[i]);
      if (!found.empty()) return where + ", picture " + std::to_string(i) + ": " + found;
    }
  }
  return {};
}

}  // namespace cu264::parity
