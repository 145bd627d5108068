// Finds the groups that may hold emulation prevention bytes.
#pragma once

#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// Returns whether one of the bytes that `own` completes may need an escape; `before` is the preceding group
// of the slice. Such a byte and the two bytes before it are 24 bits, and all but the last two of these are
// zeros (kEscapeZeros). The last bit belongs to `own`. Therefore the zeros lie in `own`, or begin in `before`
// and end in `own`, or, if `own` has only the last two bits, lie in `before`. If `before` has 23 bits or
// more, no zero lies further back.
CU264_HD bool may_hold_escapes(const GroupRecord& before, const GroupRecord& own) {
  return own.may_escape != 0 || before.may_escape != 0 || before.before < 23 ||
         before.zeros_last + own.zeros_first >= kEscapeZeros;
}

// The same for a slice's first group, which follows the slice header. `header` holds the header's bits,
// right-aligned.
CU264_HD bool may_hold_escapes(std::uint64_t header, int header_length, const GroupRecord& own) {
  const std::uint64_t after_ones = header_length < 64 ? header | ~std::uint64_t{0} << header_length : header;
  const auto high = static_cast<std::uint32_t>(after_ones >> 32),
             low = static_cast<std::uint32_t>(after_ones);
  return own.may_escape != 0 || escape_zeros_begin(high, low) ||
         escape_zeros_begin(low, ~0u >> own.zeros_first);
}

}  // namespace cu264::entropy
