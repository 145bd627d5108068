#include "entropy/pack/nal_writer.h"

#include <cstddef>

#include "core/nal.h"

namespace cu264::entropy {

void append_nal(std::vector<std::uint8_t>& out, int nal_ref_idc, int nal_unit_type,
                std::span<const std::uint8_t> rbsp, bool long_start_code) {
  if (long_start_code) out.push_back(0);
  out.insert(out.end(), {0, 0, 1, static_cast<std::uint8_t>((nal_ref_idc << 5) | nal_unit_type)});
  out.reserve(out.size() + rbsp.size());
  std::size_t copied = 0;  // rbsp[0 .. copied) is written
  int zeros = 0;
  for (std::size_t i = 0; i < rbsp.size(); ++i) {
    if (core::needs_emulation_prevention(zeros, rbsp[i])) {
      out.insert(out.end(), rbsp.begin() + static_cast<std::ptrdiff_t>(copied),
                 rbsp.begin() + static_cast<std::ptrdiff_t>(i));
      out.push_back(core::kEmulationPreventionByte);
      copied = i;
    }
    zeros = core::zeros_after(zeros, rbsp[i]);
  }
  out.insert(out.end(), rbsp.begin() + static_cast<std::ptrdiff_t>(copied), rbsp.end());
}

}  // namespace cu264::entropy
