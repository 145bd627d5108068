// Encodes pictures in one call, as most tests do.
#pragma once

#include <cstdint>
#include <vector>

#include "cu264/encoder.h"
#include "support/picture.h"

namespace cu264::test {

// A Config with the Baseline profile, for tests of CAVLC and the 4x4 transform.
Config baseline_config();

struct EncodedStream {
  EncoderInfo info;
  std::vector<std::uint8_t> headers;
  std::vector<Packet> packets;
  bool separate_headers = false;

  // The stream as a file holds it.
  std::vector<std::uint8_t> bytes() const;
};

// A frame and the samples that it views, laid out as a caller of the library might have them.
class FrameBuffer {
 public:
  // Every row ends with `padding` bytes of a value found nowhere else.
  FrameBuffer(const Picture& picture, PixelFormat format, int padding = 0);

  Frame view(std::int64_t pts = 0) const;

 private:
  PixelFormat format_;
  int width_;
  int height_;
  std::ptrdiff_t pitch_[3] = {};
  std::vector<std::uint8_t> planes_[3];
};

// Encodes with the pictures' width and height and with reconstructions, whatever `config` says.
EncodedStream encode(Config config, const std::vector<Picture>& pictures,
                     PixelFormat format = PixelFormat::i420, int padding = 0);

// Encodes with an encoder that is already open.
EncodedStream encode(Encoder& encoder, const Config& config, const std::vector<Picture>& pictures,
                     PixelFormat format = PixelFormat::i420, int padding = 0);

// A packet's reconstruction. It has a size but no samples if the packet's has the wrong number of them.
Picture reconstruction_of(const EncodedStream& stream, std::size_t index);

}  // namespace cu264::test
