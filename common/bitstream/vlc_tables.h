// Look-up tables that decode CAVLC's codes in one step each, built from the tables the coder writes from
// (core/cavlc_tables.h).
#pragma once

#include <array>
#include <cstdint>

namespace cu264::bitstream {

struct VlcEntry {
  std::uint8_t symbol = 0;
  std::uint8_t length = 0;  // 0: no code
};

// A level that is not its block's first, and whose code has at most kLevelBits bits.
struct LevelEntry {
  std::int16_t level = 0;
  std::uint8_t length = 0;  // 0: the code is longer
  std::uint8_t next_suffix_length = 0;
};

class VlcTables {
 public:
  VlcTables();

  // TotalCoeff * 4 + TrailingOnes; columns of core::coeff_token_column.
  VlcEntry coeff_token(std::uint64_t window, int column) const {
    if (column == 4) return chroma_dc_token_[window >> 56];
    if (column == 3) return long_token_[window >> 58];
    // No code has more than three bits behind its first one.
    const int zeros = __builtin_clzll(window | 1);
    if (zeros > 15) return {};
    return token_[static_cast<std::size_t>(column)]
                 [static_cast<std::size_t>(zeros) << 3 | (window << (zeros + 1) >> 61)];
  }
  VlcEntry total_zeros(std::uint64_t window, int total_coeff, bool chroma_dc) const {
    return chroma_dc ? chroma_dc_zeros_[static_cast<std::size_t>(total_coeff - 1)][window >> 61]
                     : zeros_[static_cast<std::size_t>(total_coeff - 1)][window >> 55];
  }
  VlcEntry run_before(std::uint64_t window, int zeros_left) const {
    if (zeros_left <= 6) return runs_[static_cast<std::size_t>(zeros_left - 1)][window >> 61];
    return long_runs_[window >> 53];
  }
  // suffix_length: 1 to 6
  LevelEntry level(std::uint64_t window, int suffix_length) const {
    return levels_[static_cast<std::size_t>(suffix_length - 1)][window >> (64 - kLevelBits)];
  }

 private:
  static constexpr int kLevelBits = 9;
  void enter_levels();

  std::array<std::array<LevelEntry, 1 << kLevelBits>, 6> levels_{};
  std::array<std::array<VlcEntry, 128>, 3> token_{};
  std::array<VlcEntry, 64> long_token_{};
  std::array<VlcEntry, 256> chroma_dc_token_{};
  std::array<std::array<VlcEntry, 512>, 15> zeros_{};
  std::array<std::array<VlcEntry, 8>, 3> chroma_dc_zeros_{};
  std::array<std::array<VlcEntry, 8>, 6> runs_{};
  std::array<VlcEntry, 2048> long_runs_{};
};

const VlcTables& vlc_tables();

}  // namespace cu264::bitstream
