// The table of coeff_token (H.264 table 9-5) in shared memory. In the L1 cache, look-ups would wait for
// loads from global memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/cavlc_tables.h"
#include "entropy/cavlc/level_coder.cuh"
#include "entropy/cavlc/shared_address.cuh"

namespace cu264::entropy {

struct TokenCodes {
  static constexpr int kRows = 17, kColumns = 5;

  // Entries by column, TotalCoeff and TrailingOnes: bits << 7 | row << kRowShift | number of bits.
  std::uint16_t entries[kColumns * kRows * 4];

  // Fills the table. All kThreads threads of a block must call this.
  template <int kThreads>
  __device__ __forceinline__ void fill() {
    constexpr int kEntries = kColumns * kRows * 4;
#pragma unroll
    for (int first = 0; first < kEntries; first += kThreads) {
      const int i = first + static_cast<int>(threadIdx.x);
      if (i >= kEntries) return;
      const core::CodeWord code = core::coeff_token_code(0, i / 4, i % 4);  // the entries of all columns
      const LevelRow row = first_row(i / 4 % kRows, i % 4);
      static_assert(kRowFirstOf1 << kRowShift < 1 << 7);
      entries[i] = static_cast<std::uint16_t>(code.bits << 7 | row << kRowShift |
                                              static_cast<std::uint32_t>(code.length));
    }
  }
};

struct Token {
  core::CodeWord code;
  std::uint32_t row;  // the row of LevelCodes for the first level, << kRowShift
};

// Looks tokens up in such a table.
class SharedTokens {
 public:
  // All lanes must call this.
  __device__ __forceinline__ explicit SharedTokens(const TokenCodes& s_codes)
      : codes_(own_address(s_codes.entries, 0, 0)) {}

  __device__ __forceinline__ Token operator()(int column, int total_coeff, int trailing_ones) const {
    const int index = (column * TokenCodes::kRows + total_coeff) * 4 + trailing_ones;
    const std::uint32_t entry =
        object_at<const std::uint16_t>(codes_ + static_cast<SharedAddress>(2 * index));
    return {{entry >> 7, static_cast<int>(entry & 31)}, entry & kRowMask & ((1u << 7) - 1)};
  }

 private:
  const SharedAddress codes_;
};

}  // namespace cu264::entropy
