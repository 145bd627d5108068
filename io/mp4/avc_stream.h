// H.264 as MP4 stores it (ISO/IEC 14496-15, 5.3 and 5.4): each NAL unit follows its length, and parameter
// sets are stored separately, in an AVCDecoderConfigurationRecord.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cu264/encoder.h"

namespace cu264::mp4 {

// The part of a sequence parameter set that the boxes of its track repeat (H.264 7.3.2.1.1 and annex E).
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

// Returns what stands before a NAL unit in a sample: its length in four bytes.
std::array<std::uint8_t, 4> length_of(std::span<const std::uint8_t> nal_unit);

struct SampleUnits {
  std::vector<std::span<const std::uint8_t>> nal_units;
  bool sync = false;  // an IDR picture
};

class AvcStream {
 public:
  // Throws Error(invalid_argument) unless `headers` holds one SPS and one PPS.
  explicit AvcStream(std::span<const std::uint8_t> headers);

  const SequenceInfo& info() const { return info_; }
  std::vector<std::uint8_t> configuration_record() const;

  // What a sample has of an access unit. The parameter sets of the headers are left out; others are an
  // Error(bad_input).
  SampleUnits sample_units(std::span<const std::uint8_t> access_unit) const;

 private:
  std::vector<std::uint8_t> sps_;
  std::vector<std::uint8_t> pps_;
  SequenceInfo info_;
};

}  // namespace cu264::mp4
