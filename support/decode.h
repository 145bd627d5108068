// Decodes an H.264 byte stream with libavcodec in the same process: a check that shares no code with the
// encoder.
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
  // These values are libavcodec's: profile with its constraint bits, level_idc, code points of H.273.
  int profile = 0;
  int level = 0;
  int primaries = 0, transfer = 0, matrix = 0;
  bool full_range = false;
  int sar_num = 0, sar_den = 1;
  int frame_rate_num = 0, frame_rate_den = 1;
  // All messages of libav and the findings of this decoder. It stays empty for a good stream.
  std::vector<std::string> complaints;
};

inline constexpr int kConstrainedBaseline = 66 | 1 << 9;
inline constexpr int kMain = 77;
inline constexpr int kHigh = 100;

// Finds the pictures from the stream alone and stops at the first error. `vectors`: whether libavcodec uses
// its code for vector instructions, which is wrong where kMaxCommonDcWeight is exceeded
// (cu264/scaling_lists.h).
DecodedStream decode_annexb(std::span<const std::uint8_t> bytes, bool vectors = true);

// Reads the first pictures of any video file that libav can read as 8-bit 4:2:0. Throws std::runtime_error.
std::vector<Picture> load_clip(const std::string& path, int max_pictures);

}  // namespace cu264::test
