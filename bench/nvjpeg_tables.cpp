// Compares nvJPEG with cu264 on the same frames in device memory: frames per second, and bytes at the same
// luma PSNR.
#include "bench/encode_tables.h"

#if defined(CU264_WITH_NVJPEG)

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/encode_rate.h"
#include "bench/nvjpeg_peer.h"
#include "cu264/encoder.h"

namespace cu264::bench {
namespace {

using Point = NvJpeg::Point;

// Bytes and PSNR of the clip's first frame with a preset, by QP. Each QP is encoded once, when it is first
// needed.
class QpCurve {
 public:
  QpCurve(const Clip& clip, const FramePool& pool, Preset preset)
      : clip_(clip), pool_(pool), preset_(preset) {}

  const Point& at(int qp) {
    const auto known = points_.find(qp);
    return known != points_.end() ? known->second : points_[qp] = encode(qp);
  }

  int nearest(double psnr) {
    const int above = last_above(psnr);
    const int a = std::max(above, 0), b = std::min(above + 1, kMaxQp);
    return std::abs(at(a).psnr - psnr) <= std::abs(at(b).psnr - psnr) ? a : b;
  }

  // Interpolates log-linearly between two QPs. Returns nothing outside the range of QPs.
  std::optional<double> bytes_at(double psnr) {
    const int above = last_above(psnr);
    if (above < 0 || above == kMaxQp) return {};
    const Point &a = at(above), &b = at(above + 1);
    const double share = (a.psnr - psnr) / (a.psnr - b.psnr);
    return std::exp((1 - share) * std::log(a.bytes) + share * std::log(b.bytes));
  }

 private:
  static constexpr int kMaxQp = 51;

  // The largest QP whose PSNR is not below `psnr`, or -1 if there is none.
  int last_above(double psnr) {
    int above = -1, below = kMaxQp + 1;
    while (below - above > 1) {
      const int middle = (above + below) / 2;
      (at(middle).psnr >= psnr ? above : below) = middle;
    }
    return above;
  }

  Point encode(int qp) const {
    Config config = config_of(clip_, preset_, 1);
    config.qp = qp;
    config.reconstruction = true;
    Encoder encoder(config);
    encoder.send(pool_.frame(0));
    encoder.flush();
    const Packet packet = encoder.receive().value();
    return {psnr(packet.reconstruction.data(), clip_.frames[0].data(), clip_.luma_bytes()),
            static_cast<double>(packet.data.size())};
  }

  const Clip& clip_;
  const FramePool& pool_;
  const Preset preset_;
  std::map<int, Point> points_;
};

struct Peer {
  std::string input;
  int quality = 0;
  Point point;
  double one_stream = 0, several_streams = 0;  // frames per second of the faster input
};

Peer measure_peer(const NvJpeg& jpeg, const char* input, int quality, const Clip& clip, Run& run) {
  Peer peer{input, quality, jpeg.first_frame(quality)};
  for (const int streams : {1, 4, 8}) {
    const double rate = jpeg.rate(quality, streams, run.quick);
    double& best = streams == 1 ? peer.one_stream : peer.several_streams;
    best = std::max(best, rate);
    run.report.row("nvJPEG, device to host", {{"clip", clip.name},
                                              {"input", peer.input},
                                              {"quality", quality},
                                              {"streams", streams},
                                              {"fps", rate},
                                              {"bytes", peer.point.bytes}});
  }
  return peer;
}

}  // namespace

void report_nvjpeg(const Clip& clip, Run& run) {
  constexpr std::pair<NvJpeg::Input, const char*> kInputs[] = {{NvJpeg::Input::rgb, "rgb"},
                                                               {NvJpeg::Input::yuv420, "yuv420"}};
  constexpr int kQualities[] = {75, 90};
  const FramePool pool(clip, MemoryKind::device);
  std::vector<Peer> peers;
  for (const auto& [input, name] : kInputs) {
    const NvJpeg jpeg(clip, pool, input);
    for (const int quality : kQualities) peers.push_back(measure_peer(jpeg, name, quality, clip, run));
  }
  std::vector<QpCurve> curves;
  for (const auto& [preset, name] : kPresets) curves.emplace_back(clip, pool, preset);
  for (const Peer& peer : peers) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const std::optional<double> bytes = curves[i].bytes_at(peer.point.psnr);
      if (!bytes) continue;
      run.report.row("bytes at nvJPEG's luma PSNR", {{"clip", clip.name},
                                                     {"input", peer.input},
                                                     {"quality", peer.quality},
                                                     {"psnr", peer.point.psnr, 2},
                                                     {"nvjpeg_bytes", peer.point.bytes},
                                                     {"preset", kPresets[i].second},
                                                     {"cu264_bytes", *bytes},
                                                     {"ratio", *bytes / peer.point.bytes, 3}});
    }
  }
  // cu264 is measured at the integer QP whose PSNR is nearest, nvJPEG with the faster of its inputs.
  for (const Peer& peer : peers) {
    if (peer.input != "yuv420") continue;
    const auto fastest = [&](double Peer::*rate) {
      double best = 0;
      for (const Peer& other : peers)
        if (other.quality == peer.quality) best = std::max(best, other.*rate);
      return best;
    };
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const auto& [preset, name] = kPresets[i];
      Config config = config_of(clip, preset, 0);
      config.qp = curves[i].nearest(peer.point.psnr);
      const Point& point = curves[i].at(config.qp);
      run.report.row("beside nvJPEG", {{"clip", clip.name},
                                       {"preset", name},
                                       {"qp", config.qp},
                                       {"psnr", point.psnr, 2},
                                       {"bytes", point.bytes},
                                       {"fps", measure_rate(config, pool, run.quick).frames_per_second},
                                       {"quality", peer.quality},
                                       {"jpeg_psnr", peer.point.psnr, 2},
                                       {"jpeg_bytes", peer.point.bytes},
                                       {"jpeg_fps_1_stream", fastest(&Peer::one_stream)},
                                       {"jpeg_fps_streams", fastest(&Peer::several_streams)}});
    }
  }
}

}  // namespace cu264::bench

#else

#include <cstdio>

namespace cu264::bench {

void report_nvjpeg(const Clip&, Run&) {
  std::printf("\nnvJPEG: this build does not have it\n");
}

}  // namespace cu264::bench

#endif
