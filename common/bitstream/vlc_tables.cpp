#include "common/bitstream/vlc_tables.h"

#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"

namespace cu264::bitstream {
namespace {

// Writes the symbol to each entry whose index, of `bits` bits, begins with the code.
template <std::size_t size>
void enter(std::array<VlcEntry, size>& table, int bits, core::CodeWord code, int symbol) {
  if (code.length == 0) return;
  const int rest = bits - code.length;
  for (std::size_t i = 0; i < std::size_t{1} << rest; ++i) {
    table[(static_cast<std::size_t>(code.bits) << rest) + i] = {static_cast<std::uint8_t>(symbol),
                                                                static_cast<std::uint8_t>(code.length)};
  }
}

// The table is indexed by the number of zeros before the first one bit and by the three bits after it.
void enter_by_zeros(std::array<VlcEntry, 128>& table, core::CodeWord code, int symbol) {
  if (code.length == 0) return;
  const int zeros = code.length - (32 - __builtin_clz(code.bits));
  const int rest = code.length - zeros - 1;
  const unsigned value = code.bits & ((1u << rest) - 1);
  for (unsigned i = 0; i < 8u >> rest; ++i) {
    table[static_cast<unsigned>(zeros) << 3 | value << (3 - rest) | i] = {
        static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(code.length)};
  }
}

}  // namespace

VlcTables::VlcTables() {
  for (int total = 0; total <= 16; ++total) {
    for (int ones = 0; ones <= 3 && ones <= total; ++ones) {
      const int symbol = 4 * total + ones;
      for (int column = 0; column < 3; ++column) {
        enter_by_zeros(token_[static_cast<std::size_t>(column)], core::coeff_token_code(column, total, ones),
                       symbol);
      }
      enter(long_token_, 6, core::coeff_token_code(3, total, ones), symbol);
      if (total <= 4) enter(chroma_dc_token_, 8, core::coeff_token_code(4, total, ones), symbol);
    }
  }
  for (int total = 1; total <= 15; ++total) {
    for (int zeros = 0; zeros <= 16 - total; ++zeros) {
      enter(zeros_[static_cast<std::size_t>(total - 1)], 9, core::total_zeros_code(total, zeros), zeros);
    }
  }
  for (int total = 1; total <= 3; ++total) {
    for (int zeros = 0; zeros <= 4 - total; ++zeros) {
      enter(chroma_dc_zeros_[static_cast<std::size_t>(total - 1)], 3,
            core::chroma_dc_total_zeros_code(total, zeros), zeros);
    }
  }
  for (int left = 1; left <= 6; ++left) {
    for (int run = 0; run <= left; ++run) {
      enter(runs_[static_cast<std::size_t>(left - 1)], 3, core::run_before_code(left, run), run);
    }
  }
  for (int run = 0; run <= 14; ++run) enter(long_runs_, 11, core::run_before_code(7, run), run);
  enter_levels();
}

// 9.2.2.1: level_prefix zeros and a one, then suffixLength bits.
void VlcTables::enter_levels() {
  for (int suffix_length = 1; suffix_length <= 6; ++suffix_length) {
    auto& table = levels_[static_cast<std::size_t>(suffix_length - 1)];
    for (unsigned index = 1; index < table.size(); ++index) {
      const int prefix = __builtin_clz(index) - (32 - kLevelBits), length = prefix + 1 + suffix_length;
      if (length > kLevelBits) continue;
      const int suffix = static_cast<int>(index >> (kLevelBits - length) & ((1u << suffix_length) - 1));
      const int level_code = (prefix << suffix_length) + suffix, magnitude = (level_code + 2) >> 1;
      table[index] = {static_cast<std::int16_t>((level_code & 1) != 0 ? -magnitude : magnitude),
                      static_cast<std::uint8_t>(length),
                      static_cast<std::uint8_t>(core::next_suffix_length(suffix_length, magnitude))};
    }
  }
}

const VlcTables& vlc_tables() {
  static const VlcTables tables;
  return tables;
}

}  // namespace cu264::bitstream
