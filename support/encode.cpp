#include "support/encode.h"

namespace cu264::test {

Config baseline_config() {
  Config config;
  config.profile = Profile::baseline;
  return config;
}

std::vector<std::uint8_t> EncodedStream::bytes() const {
  std::vector<std::uint8_t> all;
  if (separate_headers) all = headers;
  for (const Packet& packet : packets) all.insert(all.end(), packet.data.begin(), packet.data.end());
  return all;
}

FrameBuffer::FrameBuffer(const Picture& picture, PixelFormat format, int padding)
    : format_(format), width_(picture.width), height_(picture.height) {
  const int planes = format == PixelFormat::gray8 ? 1 : format == PixelFormat::nv12 ? 2 : 3;
  for (int p = 0; p < planes; ++p) {
    const int interleaved = format == PixelFormat::nv12 && p == 1 ? 2 : 1;
    const int width = picture.plane_width(p), height = picture.plane_height(p);
    pitch_[p] = width * interleaved + padding;
    planes_[p].assign(static_cast<std::size_t>(pitch_[p]) * height, 0xa5);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int i = 0; i < interleaved; ++i) {
          planes_[p][y * pitch_[p] + x * interleaved + i] = picture.plane(p + i)[y * width + x];
        }
      }
    }
  }
}

Frame FrameBuffer::view(std::int64_t pts) const {
  Frame frame;
  frame.format = format_;
  frame.width = width_, frame.height = height_;
  for (int p = 0; p < 3; ++p) {
    frame.plane[p] = planes_[p].empty() ? nullptr : planes_[p].data();
    frame.pitch[p] = pitch_[p];
  }
  frame.pts = pts;
  return frame;
}

EncodedStream encode(Config config, const std::vector<Picture>& pictures, PixelFormat format, int padding) {
  config.width = pictures.front().width;
  config.height = pictures.front().height;
  config.reconstruction = true;
  Encoder encoder(config);
  return encode(encoder, config, pictures, format, padding);
}

EncodedStream encode(Encoder& encoder, const Config& config, const std::vector<Picture>& pictures,
                     PixelFormat format, int padding) {
  EncodedStream stream;
  stream.info = encoder.info();
  stream.headers = encoder.headers();
  stream.separate_headers = config.headers == HeaderPlacement::separate;
  // Copies are kept, so that later packets have the memory of earlier ones, whose bytes would be noticed.
  const auto take = [&](const Packet& packet) { stream.packets.push_back(packet); };
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const FrameBuffer buffer(pictures[i], format, padding);
    while (!encoder.send(buffer.view(static_cast<std::int64_t>(i) * 10 + 3))) {
      auto packet = encoder.receive();
      if (!packet) throw Error(ErrorCode::encode_failure, "a full encoder has no packet");
      take(*packet);
    }
  }
  encoder.flush();
  while (auto packet = encoder.receive()) take(*packet);
  return stream;
}

Picture reconstruction_of(const EncodedStream& stream, std::size_t index) {
  Picture picture(stream.info.width, stream.info.height);
  const std::vector<std::uint8_t>& samples = stream.packets[index].reconstruction;
  if (samples.size() == picture.samples.size()) {
    picture.samples = samples;
  } else {
    picture.samples.clear();
  }
  return picture;
}

}  // namespace cu264::test
