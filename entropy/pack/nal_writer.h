// RBSP to NAL units of a byte stream (H.264 7.3.1 and annex B).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cu264::entropy {

// Appends a start code, the NAL unit's header and the RBSP with emulation prevention. The long start code
// (with zero_byte) belongs before parameter sets and before the first NAL unit of an access unit (B.1.2). An
// RBSP that ends in its trailing bits never ends in a zero byte, so that no 03 is needed after it.
void append_nal(std::vector<std::uint8_t>& out, int nal_ref_idc, int nal_unit_type,
                std::span<const std::uint8_t> rbsp, bool long_start_code);

}  // namespace cu264::entropy
