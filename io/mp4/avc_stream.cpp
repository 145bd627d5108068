#include "io/mp4/avc_stream.h"

#include <algorithm>
#include <string>

#include "common/bitstream/nal_unit.h"
#include "io/mp4/box_writer.h"
#include "io/mp4/sequence_info.h"

namespace cu264::mp4 {

using bitstream::NalUnit;

std::array<std::uint8_t, 4> length_of(std::span<const std::uint8_t> nal_unit) {
  const auto length = static_cast<std::uint32_t>(nal_unit.size());
  return {static_cast<std::uint8_t>(length >> 24), static_cast<std::uint8_t>(length >> 16),
          static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)};
}

AvcStream::AvcStream(std::span<const std::uint8_t> headers) {
  const auto keep = [](std::vector<std::uint8_t>& set, const NalUnit& nal, const char* name) {
    if (!set.empty()) {
      throw Error(ErrorCode::invalid_argument, std::string("the headers have more than one ") + name,
                  "pass Encoder::headers()");
    }
    set.assign(nal.unit.begin(), nal.unit.end());
  };
  for (const NalUnit& nal : bitstream::split_annexb(headers).units) {
    if (nal.type() == bitstream::kNalSps) keep(sps_, nal, "SPS");
    if (nal.type() == bitstream::kNalPps) keep(pps_, nal, "PPS");
  }
  if (sps_.size() < 4 || pps_.empty() || sps_.size() > 0xffff || pps_.size() > 0xffff) {
    throw Error(ErrorCode::invalid_argument, "the headers of the video have no SPS and PPS in Annex B form",
                "pass Encoder::headers()");
  }
  info_ = read_sequence_info(sps_);
}

// ISO/IEC 14496-15, 5.3.3.1
std::vector<std::uint8_t> AvcStream::configuration_record() const {
  BoxWriter w;
  w.u8(1);                        // configurationVersion
  w.bytes({sps_.data() + 1, 3});  // profile_idc, constraint flags, level_idc
  w.u8(0xfc | 3);                 // lengths have 4 bytes
  w.u8(0xe0 | 1);                 // one SPS
  w.u16(static_cast<unsigned>(sps_.size()));
  w.bytes(sps_);
  w.u8(1);  // one PPS
  w.u16(static_cast<unsigned>(pps_.size()));
  w.bytes(pps_);
  if (has_chroma_format(info_.profile_idc)) {
    w.u8(0xfcu | static_cast<unsigned>(info_.chroma_format_idc));
    w.u8(0xf8u | static_cast<unsigned>(info_.bit_depth_luma - 8));
    w.u8(0xf8u | static_cast<unsigned>(info_.bit_depth_chroma - 8));
    w.u8(0);  // no SPS extensions
  }
  return w.take();
}

SampleUnits AvcStream::sample_units(std::span<const std::uint8_t> access_unit) const {
  SampleUnits sample;
  bool picture = false;
  for (const NalUnit& nal : bitstream::split_annexb(access_unit).units) {
    const int type = nal.type();
    if (type == bitstream::kNalSps || type == bitstream::kNalPps) {
      const auto& known = type == bitstream::kNalSps ? sps_ : pps_;
      if (std::equal(nal.unit.begin(), nal.unit.end(), known.begin(), known.end())) continue;
      throw Error(ErrorCode::bad_input, "the parameter sets change within the video",
                  "write another file from that picture on");
    }
    sample.sync |= type == bitstream::kNalSliceIdr;
    picture |= type == bitstream::kNalSliceIdr || type == bitstream::kNalSlice;
    sample.nal_units.push_back(nal.unit);
  }
  if (!picture) {
    throw Error(ErrorCode::bad_input, "an access unit has no slice", "pass Packet::data, in Annex B form");
  }
  return sample;
}

}  // namespace cu264::mp4
