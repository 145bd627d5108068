// Encodes pictures in one call, as most tests want it.
#pragma once

#include <cstdint>
#include <vector>

#include "cu264/encoder.h"
#include "support/picture.h"

namespace cu264::test {

struct EncodedStream {
  EncoderInfo info;
  std::vector<std::uint8_t> headers;
  std::vector<Packet> packets;
  bool separate_headers = false;

  // As a file holds it.
  std::vector<std::uint8_t> bytes() const;
};

// A frame and the samples it views, laid out as a caller of the library might have them.
class FrameBuffer {
 public:
  // `padding` bytes, of a value found nowhere else, end every row.
  FrameBuffer(const Picture& picture, PixelFormat format, int padding = 0);

  Frame view(std::int64_t pts = 0) const;

 private:
  PixelFormat format_;
  int width_;
  int height_;
  std::ptrdiff_t pitch_[3] = {};
  std::vector<std::uint8_t> planes_[3];
};

// Width and height are the pictures', and reconstructions are asked for, whatever `config` says.
EncodedStream encode(Config config, const std::vector<Picture>& pictures,
                     PixelFormat format = PixelFormat::i420, int padding = 0);

// The same by an encoder that is open already.
EncodedStream encode(Encoder& encoder, const Config& config, const std::vector<Picture>& pictures,
                     PixelFormat format = PixelFormat::i420, int padding = 0);

// A packet's reconstruction, or nothing but the size if it does not have as many samples as it should.
Picture reconstruction_of(const EncodedStream& stream, std::size_t index);

}  // namespace cu264::test
