// Emulation prevention (H.264 7.4.1): which byte of an RBSP must be preceded by 03 in the NAL unit.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

inline constexpr std::uint8_t kEmulationPreventionByte = 3;

// `zeros` is how many zero bytes, 0 to 2, directly precede `byte` in the NAL unit since the last inserted 03.
CU264_HD bool needs_emulation_prevention(int zeros, std::uint8_t byte) {
  return zeros == 2 && byte <= 3;
}

// Returns `zeros` as it is after `byte` has been written, with a 03 before it if one was needed.
CU264_HD int zeros_after(int zeros, std::uint8_t byte) {
  if (byte != 0) return 0;
  return zeros == 2 ? 1 : zeros + 1;
}

// The count after `run` zero bytes that follow a non-zero byte: 0, 1, 2, 1, 2 .. It depends on the run alone,
// so emulation prevention can begin at any byte of a NAL unit.
CU264_HD int zeros_after_run(std::int64_t run) {
  return run < 2 ? static_cast<int>(run) : 2 - static_cast<int>(run & 1);
}

}  // namespace cu264::core
