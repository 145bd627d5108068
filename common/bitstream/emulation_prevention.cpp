#include "common/bitstream/emulation_prevention.h"

#include <cstring>

#include "common/bitstream/rbsp.h"
#include "core/nal.h"

namespace cu264::bitstream {
namespace {

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

}  // namespace cu264::bitstream
