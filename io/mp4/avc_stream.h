// H.264 as MP4 stores it (ISO/IEC 14496-15, 5.3 and 5.4): NAL units behind their lengths, and parameter sets
// apart from them, in an AVCDecoderConfigurationRecord.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cu264/encoder.h"

namespace cu264::mp4 {

// What the boxes of a track repeat of its sequence parameter set (H.264 7.3.2.1.1 and annex E).
struct SequenceInfo {
  int profile_idc = 0;
  int chroma_format_idc = 1;
  int bit_depth_luma = 8;
  int bit_depth_chroma = 8;
  int width = 0;  // of the picture that is shown
  int height = 0;
  Rational sample_aspect_ratio{0, 1};  // 0: unspecified
  bool has_colour = false;
  Colour colour;
};

class AvcStream {
 public:
  // Throws Error(invalid_argument) unless `headers` holds one SPS and one PPS.
  explicit AvcStream(std::span<const std::uint8_t> headers);

  const SequenceInfo& info() const { return info_; }
  std::vector<std::uint8_t> configuration_record() const;

  // Appends an access unit to `sample`, each NAL unit behind its length in four bytes, and returns what it
  // added. The parameter sets of the headers are left out; others are an Error(bad_input), as is a picture
  // that is not an IDR picture.
  std::size_t append_sample(std::span<const std::uint8_t> access_unit,
                            std::vector<std::uint8_t>& sample) const;

 private:
  std::vector<std::uint8_t> sps_;
  std::vector<std::uint8_t> pps_;
  SequenceInfo info_;
};

}  // namespace cu264::mp4
