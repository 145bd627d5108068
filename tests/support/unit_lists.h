// A byte stream as a list of NAL units that can be changed and put together again.
#pragma once

#include <vector>

#include "common/bitstream/nal_unit.h"

namespace cu264::test {

// The NAL units of a stream, each with its start code and the zero bytes before it.
inline std::vector<bitstream::Bytes> units_of(const bitstream::Bytes& stream) {
  std::vector<bitstream::Bytes> units;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(stream).units) {
    units.emplace_back(nal.prefix.begin(), nal.prefix.end());
    units.back().insert(units.back().end(), nal.unit.begin(), nal.unit.end());
  }
  return units;
}

inline bitstream::Bytes joined(const std::vector<bitstream::Bytes>& units) {
  bitstream::Bytes stream;
  for (const bitstream::Bytes& unit : units) stream.insert(stream.end(), unit.begin(), unit.end());
  return stream;
}

// nal_unit_type of a unit with a start code.
inline int type_of(const bitstream::Bytes& unit) {
  std::size_t at = 0;
  while (at < unit.size() && unit[at] != 1) ++at;
  return at + 1 < unit.size() ? unit[at + 1] & 31 : 0;
}

}  // namespace cu264::test
