#include "tests/support/nal_units.h"

#include <string>

namespace cu264::test {
namespace {

[[noreturn]] void fail(std::size_t at, const std::string& what) {
  throw StreamError("byte " + std::to_string(at) + ": " + what);
}

// Returns where the next 00 00 01 begins, or the end if there is none.
std::size_t find_start_code(std::span<const std::uint8_t> bytes, std::size_t from) {
  for (std::size_t i = from; i + 3 <= bytes.size(); ++i) {
    if (bytes[i] == 0 && bytes[i + 1] == 0 && bytes[i + 2] == 1) return i;
  }
  return bytes.size();
}

NalUnit unwrap(std::span<const std::uint8_t> bytes, std::size_t begin, std::size_t end) {
  if (begin == end) fail(begin, "an empty NAL unit");
  NalUnit nal;
  if (bytes[begin] & 0x80) fail(begin, "forbidden_zero_bit is set");
  nal.nal_ref_idc = bytes[begin] >> 5 & 3;
  nal.nal_unit_type = bytes[begin] & 31;
  if (bytes[end - 1] == 0) fail(end - 1, "a NAL unit ends in a zero byte");
  int zeros = 0;
  for (std::size_t i = begin + 1; i < end; ++i) {
    const std::uint8_t byte = bytes[i];
    if (zeros >= 2 && byte < 3) fail(i, "start code emulation");
    if (zeros >= 2 && byte == 3) {
      if (i + 1 < end && bytes[i + 1] > 3) fail(i, "an emulation prevention byte that prevents nothing");
      ++nal.escapes;
      zeros = 0;
      continue;
    }
    zeros = byte == 0 ? zeros + 1 : 0;
    nal.rbsp.push_back(byte);
  }
  return nal;
}

}  // namespace

std::vector<NalUnit> split_annexb(std::span<const std::uint8_t> bytes) {
  std::vector<NalUnit> nals;
  std::size_t code = find_start_code(bytes, 0);
  if (code > 1) fail(0, "does not begin with a start code");
  bool zero_byte = code == 1 && bytes[0] == 0;
  if (code == 1 && !zero_byte) fail(0, "does not begin with a start code");
  while (code < bytes.size()) {
    const std::size_t begin = code + 3;
    const std::size_t next = find_start_code(bytes, begin);
    // The zero_byte of the next start code does not belong to this unit.
    const bool next_zero_byte = next < bytes.size() && bytes[next - 1] == 0;
    const std::size_t end = next_zero_byte ? next - 1 : next;
    nals.push_back(unwrap(bytes, begin, end));
    nals.back().begin = zero_byte ? code - 1 : code, nals.back().end = end;
    nals.back().zero_byte = zero_byte;
    code = next, zero_byte = next_zero_byte;
  }
  if (nals.empty()) fail(0, "no NAL unit");
  return nals;
}

}  // namespace cu264::test
