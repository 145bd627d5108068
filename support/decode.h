// An H.264 byte stream decoded by libavcodec in process: the judge that shares no code with the encoder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/picture.h"

namespace cu264::test {

struct DecodedPicture {
  Picture picture;
  bool key = false;
};

struct DecodedStream {
  std::vector<DecodedPicture> pictures;
  // As libavcodec names them: profile with its constraint bits, level_idc, code points of H.273
  int profile = 0;
  int level = 0;
  int primaries = 0, transfer = 0, matrix = 0;
  bool full_range = false;
  int sar_num = 0, sar_den = 1;
  int frame_rate_num = 0, frame_rate_den = 1;
  // Everything that libav had to say, and our own findings. A good stream leaves it empty.
  std::vector<std::string> complaints;
};

inline constexpr int kConstrainedBaseline = 66 | 1 << 9;

// Finds the pictures by the stream alone, stops at the first error.
DecodedStream decode_annexb(std::span<const std::uint8_t> bytes);

// The first pictures of any video file that libav can read as 8-bit 4:2:0; throws std::runtime_error.
std::vector<Picture> load_clip(const std::string& path, int max_pictures);

}  // namespace cu264::test
