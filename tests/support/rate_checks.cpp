#include "tests/support/rate_checks.h"

#include <algorithm>

#include "support/encode.h"

namespace cu264::test {

std::vector<Picture> cuts_of(int width, int height, int pictures) {
  std::vector<Picture> clip;
  for (int n = 0; n < pictures; ++n) {
    constexpr Content kinds[] = {Content::natural, Content::flat16, Content::noise, Content::text,
                                 Content::natural};
    const Content kind = kinds[n / 7 % 5];
    clip.push_back(make_picture(kind, width, height, static_cast<std::uint32_t>(1 + n / 3)));
  }
  return clip;
}

std::vector<RateMode> rate_modes(int width, int height) {
  // Those of whole macroblocks, so that noise at QP 51 stays below the limits at every size.
  const std::int64_t samples = static_cast<std::int64_t>((width + 15) / 16 * 16) * ((height + 15) / 16 * 16);
  Config config = baseline_config();
  config.width = width, config.height = height;
  config.preset = Preset::fast;
  std::vector<RateMode> modes;
  const auto add = [&](const char* name) -> Config& {
    return modes.emplace_back(RateMode{name, config}).config;
  };
  add("crf").crf = 26.25;
  add("bitrate").bitrate = 25 * samples * 2;
  Config& peaks = add("peaks");
  peaks.bitrate = 25 * samples, peaks.max_bitrate = 25 * samples * 2, peaks.buffer_bits = 20 * samples;
  peaks.lookahead = 5;
  Config& cbr = add("cbr");
  cbr.bitrate = 25 * samples * 2, cbr.buffer_bits = 10 * samples, cbr.cbr = true;
  cbr.lookahead = 13;
  Config& limit = add("max-frame-bytes");
  limit.qp = 22, limit.max_frame_bytes = samples / 4;
  add("frame-bytes").frame_bytes = samples / 4;
  Config& edges = add("edge-guided bitrate");
  edges.bitrate = 25 * samples * 2, edges.edge_guided = 2, edges.slices = 2;
  edges.lookahead = 1;
  Config& high = add("high bitrate");
  high.bitrate = 25 * samples * 2, high.profile = Profile::automatic;
  Config& blind = add("bitrate without look-ahead");
  blind.bitrate = 25 * samples * 2, blind.lookahead = 0;
  return modes;
}

std::vector<Packet> encode_with_rate(Encoder& encoder, const std::vector<Picture>& pictures) {
  return encode_draining(encoder, pictures, {});
}

std::vector<Packet> encode_draining(Encoder& encoder, const std::vector<Picture>& pictures,
                                    const std::vector<std::size_t>& drained) {
  std::vector<Packet> packets;
  const auto take_all = [&] {
    while (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
  };
  for (std::size_t n = 0; n < pictures.size(); ++n) {
    if (std::find(drained.begin(), drained.end(), n) != drained.end()) {
      encoder.drain();
      take_all();
    }
    const FrameBuffer frame(pictures[n], PixelFormat::i420);
    while (!encoder.send(frame.view(static_cast<std::int64_t>(n)))) {
      if (auto packet = encoder.receive()) packets.push_back(std::move(*packet));
    }
  }
  encoder.flush();
  take_all();
  return packets;
}

BucketFault leaky_bucket(const std::vector<Packet>& packets, double bits_per_picture, double buffer,
                         bool constant) {
  double fullness = 0.9 * buffer;
  for (const Packet& packet : packets) {
    fullness -= 8.0 * static_cast<double>(packet.data.size());
    if (fullness < 0) return {static_cast<int>(packet.index), "underflow"};
    fullness += bits_per_picture;
    if (constant && fullness > buffer + 1) return {static_cast<int>(packet.index), "overflow"};
    fullness = std::min(fullness, buffer);
  }
  return {};
}

}  // namespace cu264::test
