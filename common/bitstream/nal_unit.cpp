#include "common/bitstream/nal_unit.h"

#include <algorithm>
#include <cstring>

#include "common/bitstream/emulation_prevention.h"

namespace cu264::bitstream {
namespace {

// Position of the first byte of the next 00 00 01 at or after `from`, or the end.
const std::uint8_t* find_start_code(const std::uint8_t* from, const std::uint8_t* end) {
  for (const std::uint8_t* at = from + 2; at < end; ++at) {
    at = static_cast<const std::uint8_t*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    if (at[-1] == 0 && at[-2] == 0) return at - 2;
  }
  return end;
}

}  // namespace

NalUnits split_annexb(ByteSpan stream) {
  NalUnits found;
  const std::uint8_t* const end = stream.data() + stream.size();
  const std::uint8_t* rest = stream.data();  // bytes that belong to no unit yet
  const std::uint8_t* code = stream.size() < 3 ? end : find_start_code(rest, end);
  while (code != end) {
    const std::uint8_t* const begin = code + 3;
    code = end - begin < 3 ? end : find_start_code(begin, end);
    const std::uint8_t* last = code;
    while (last > begin && last[-1] == 0) --last;  // a unit never ends in a zero byte (7.4.1)
    found.units.push_back({{rest, begin}, {begin, last}});
    rest = last;
  }
  found.tail = {rest, end};
  return found;
}

void append_nal(Bytes& out, int nal_ref_idc, int nal_unit_type, ByteSpan rbsp, bool long_start_code) {
  if (long_start_code) out.push_back(0);
  out.insert(out.end(), {0, 0, 1});
  // The buffer must not grow by just one unit at a time when it takes many.
  if (const std::size_t size = out.size() + rbsp.size() + 1; size > out.capacity())
    out.reserve(std::max(size, 2 * out.capacity()));
  append_escaped(out, static_cast<std::uint8_t>((nal_ref_idc << 5) | nal_unit_type), rbsp);
}

}  // namespace cu264::bitstream
