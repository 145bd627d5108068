// A coded picture, as the encoder returns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cu264/packet_bytes.h"

namespace cu264 {

struct PictureStats {
  int qp = 0;  // slice QP (0..51)
  // Includes the fraction that comes of rows whose QP is higher by one; adaptive quantisation is left out.
  double mean_qp = 0;
  int codings = 1;  // how often the picture was coded until it kept to its limits
  std::int64_t buffer_bits =
      -1;  // what the HRD's buffer holds after the picture has left it; -1: there is none
  std::uint32_t intra4x4_mbs = 0;  // macroblocks by kind; these add up to the picture's
  std::uint32_t intra8x8_mbs = 0;
  std::uint32_t intra16x16_mbs = 0;
  std::uint32_t pcm_mbs = 0;
  std::uint32_t inter_mbs = 0;
  // With CABAC, whose bits belong to no single syntax element, residual_bits counts the headers too.
  std::uint64_t header_bits = 0;    // macroblock headers: types, prediction modes, patterns, QP changes
  std::uint64_t residual_bits = 0;  // transform coefficients and I_PCM samples
};

// Bytes in the memory of the device that encoded. They are valid until the next call to the encoder.
struct DeviceBytes {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};

struct Packet {
  // One access unit as a byte stream (H.264 annex B): the headers where Config asks for them, and the slices
  // of the picture, each with its start code.
  PacketBytes data;
  // With Config::device_output the picture's slices are here, and `data` holds only what precedes them.
  DeviceBytes device_data;
  std::uint64_t index = 0;  // pictures in the order sent, from 0
  std::int64_t pts = 0;     // of the frame
  void* user_data = nullptr;
  bool key = true;  // an IDR picture; the others are P pictures (Config::gop)
  PictureStats stats;
  // The picture as a decoder shows it, with Config::reconstruction: planar 4:2:0 of EncoderInfo::width x
  // height without padding.
  std::vector<std::uint8_t> reconstruction;
  // The edge map that guided the picture's quantisation, with Config::edge_maps: one byte for each luma
  // sample of the frame, Config::width x height in rows without padding, 255 for an edge and 0 for none. It
  // is what canny::Detector finds in the frame's luma with Config::edge_detector.
  std::vector<std::uint8_t> edges;
};

}  // namespace cu264
