// A byte stream taken apart into NAL units (H.264 annex B), with the rules of 7.4.1 and B.1.2 enforced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace cu264::test {

// What is wrong with a stream, and where.
class StreamError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum NalUnitType { kNalSliceIdr = 5, kNalSei = 6, kNalSps = 7, kNalPps = 8 };

struct NalUnit {
  int nal_ref_idc = 0;
  int nal_unit_type = 0;
  std::size_t begin = 0, end = 0;  // in the stream, with its start code
  bool zero_byte = false;          // before the start code: 00 00 00 01
  std::size_t escapes = 0;         // emulation_prevention_three_byte
  std::vector<std::uint8_t> rbsp;  // without them
};

// Throws StreamError.
std::vector<NalUnit> split_annexb(std::span<const std::uint8_t> bytes);

}  // namespace cu264::test
