// A coded picture on its way out of the encoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cu264 {

struct PictureStats {
  int qp = 0;                      // slice QP (0..51)
  std::uint32_t intra4x4_mbs = 0;  // macroblocks by kind; the three add up to the picture's
  std::uint32_t intra16x16_mbs = 0;
  std::uint32_t pcm_mbs = 0;
  std::uint64_t header_bits = 0;    // macroblock headers: types, prediction modes, patterns, QP changes
  std::uint64_t residual_bits = 0;  // transform coefficients and I_PCM samples
};

// Bytes in the memory of the device that encoded; valid until the next call to the encoder.
struct DeviceBytes {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};

struct Packet {
  // One access unit in Annex B form (H.264 annex B): start codes, the headers where Config asks for them, an
  // IDR picture's slices.
  std::vector<std::uint8_t> data;
  // With Config::device_output the picture's slices are here, and `data` holds only what goes before them.
  DeviceBytes device_data;
  std::uint64_t index = 0;  // pictures in the order sent, from 0
  std::int64_t pts = 0;     // of the frame
  void* user_data = nullptr;
  bool key = true;  // every picture is an IDR picture
  PictureStats stats;
  // What a decoder shows, if Config::reconstruction: planar 4:2:0 of EncoderInfo::width x height, no padding.
  std::vector<std::uint8_t> reconstruction;
};

}  // namespace cu264
