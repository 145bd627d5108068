// Finds NAL units in a byte stream and appends them to one (H.264 7.3.1 and annex B).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cu264::bitstream {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

// nal_unit_type (table 7-1)
enum NalUnitType {
  kNalSlice = 1,
  kNalPartitionA = 2,
  kNalPartitionC = 4,
  kNalSliceIdr = 5,
  kNalSei = 6,
  kNalSps = 7,
  kNalPps = 8,
  kNalDelimiter = 9,
  kNalFiller = 12,
  kNalAuxiliarySlice = 19,
  kNalSliceExtension = 20,
  kNalDepthSliceExtension = 21
};

// One NAL unit as it stands in the stream. Everything between two units (start codes, zero bytes) belongs to
// `prefix`, so prefixes and units in order, followed by the tail, are the stream.
struct NalUnit {
  ByteSpan prefix;
  ByteSpan unit;  // header and escaped payload
  int type() const { return unit.empty() ? 0 : unit[0] & 31; }
  int ref_idc() const { return unit.empty() ? 0 : unit[0] >> 5 & 3; }
};

// `tail` holds the zero bytes after the last unit. A stream without a start code has no units.
struct NalUnits {
  std::vector<NalUnit> units;
  ByteSpan tail;
};
NalUnits split_annexb(ByteSpan stream);

// Says whether a unit that follows the slices of a picture begins the next access unit (7.4.1.2.3). Units of
// types 14 to 18 do so too, but they serve other decoders, and some muxers leave them after the previous
// picture.
inline bool begins_access_unit(const NalUnit& nal) {
  return nal.type() >= kNalSei && nal.type() <= kNalDelimiter;
}

// Appends a start code, the NAL unit's header and the RBSP with emulation prevention. The long start code
// (with zero_byte) belongs before parameter sets and before the first NAL unit of an access unit (B.1.2). An
// RBSP that ends in its trailing bits never ends in a zero byte, so no 03 is needed after it.
void append_nal(Bytes& out, int nal_ref_idc, int nal_unit_type, ByteSpan rbsp, bool long_start_code);

}  // namespace cu264::bitstream
