#include "protect/rbsp.h"

#include "core/nal.h"

namespace cu264::protect {
namespace {

// The next 00 00 01 at or behind `from`, or the end: positions of its first byte.
const std::uint8_t* find_start_code(const std::uint8_t* from, const std::uint8_t* end) {
  for (const std::uint8_t* at = from + 2; at < end; ++at) {
    at = static_cast<const std::uint8_t*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    if (at[-1] == 0 && at[-2] == 0) return at - 2;
  }
  return end;
}

// The first two zero bytes in a row, or the end.
const std::uint8_t* find_zeros(const std::uint8_t* from, const std::uint8_t* end) {
  while (from + 1 < end) {
    from = static_cast<const std::uint8_t*>(std::memchr(from, 0, static_cast<std::size_t>(end - from)));
    if (from == nullptr || from + 1 >= end) break;
    if (from[1] == 0) return from;
    from += 2;
  }
  return end;
}

}  // namespace

NalUnits split_annexb(ByteSpan stream) {
  NalUnits found;
  const std::uint8_t* const end = stream.data() + stream.size();
  const std::uint8_t* rest = stream.data();  // not given to any unit yet
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

void unescape(ByteSpan unit, Bytes& out) {
  out.resize(unit.size() + kRbspPadding);
  std::uint8_t* to = out.data();
  const std::uint8_t* const end = unit.data() + unit.size();
  const std::uint8_t* from = unit.empty() ? end : unit.data() + 1;
  while (from < end) {
    const std::uint8_t* const zeros = find_zeros(from, end);
    const std::uint8_t* const stop = zeros == end ? end : zeros + 2;
    to = static_cast<std::uint8_t*>(std::memcpy(to, from, static_cast<std::size_t>(stop - from))) +
         (stop - from);
    from = stop;
    if (from < end && *from == core::kEmulationPreventionByte) ++from;
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  out.resize(out.size() + kRbspPadding, 0);
}

void append_escaped(Bytes& out, std::uint8_t header, ByteSpan rbsp) {
  out.push_back(header);
  const std::uint8_t* from = rbsp.data();
  const std::uint8_t* const end = from + rbsp.size();
  while (from < end) {
    const std::uint8_t* const zeros = find_zeros(from, end);
    const std::uint8_t* const stop = zeros == end ? end : zeros + 2;
    out.insert(out.end(), from, stop);
    from = stop;
    if (from < end && core::needs_emulation_prevention(2, *from))
      out.push_back(core::kEmulationPreventionByte);
  }
  // An RBSP that ends in its stop bit never ends in zero; one that does must not end the unit so (7.4.1).
  if (!rbsp.empty() && rbsp.back() == 0) out.push_back(core::kEmulationPreventionByte);
}

std::uint64_t stop_bit_position(ByteSpan rbsp) {
  std::size_t size = rbsp.size();
  while (size > 0 && rbsp[size - 1] == 0) --size;
  return size == 0 ? 0
                   : 8 * static_cast<std::uint64_t>(size) - 1 -
                         static_cast<unsigned>(__builtin_ctz(rbsp[size - 1]));
}

}  // namespace cu264::protect
