// Splits a byte stream into NAL units (H.264 annex B) and enforces the rules of 7.4.1 and B.1.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace cu264::test {

// Says what is wrong with a stream, and where.
class StreamError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum NalUnitType { kNalSliceIdr = 5, kNalSei = 6, kNalSps = 7, kNalPps = 8, kNalFiller = 12 };

struct NalUnit {
  int nal_ref_idc = 0;
  int nal_unit_type = 0;
  std::size_t begin = 0, end = 0;  // in the stream, with its start code
  bool zero_byte = false;          // whether the start code is 00 00 00 01
  std::size_t escapes = 0;         // emulation_prevention_three_byte
  std::vector<std::uint8_t> rbsp;  // without these bytes
};

// Throws StreamError.
std::vector<NalUnit> split_annexb(std::span<const std::uint8_t> bytes);

}  // namespace cu264::test
