// The loop filter over the edges of one macroblock's plane (H.264 8.7). It depends on the compiler's vector
// code and is compiled for each instruction set (encoder/deblock_isa.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/deblock.h"

#ifndef CU264_ISA
#define CU264_ISA isa_portable
#endif

namespace cu264::encoder::CU264_ISA {

// Samples on each side that an edge's filter reads.
inline constexpr int kReach[2] = {4, 2};  // luma, chroma

// Filters one edge of kSize lines that lie side by side in memory: q0 is the first line's q0, and `across`
// leads from a sample to the next one away from the edge. thresholds(i) are those of line i. The lines are
// copied out, so that nothing aliases and the loop over them vectorises.
template <int kSize, bool kChroma, bool kStrong, class Thresholds>
static inline void filter_edge(std::uint8_t* q0, std::ptrdiff_t across, const Thresholds& thresholds) {
  constexpr int reach = kReach[kChroma];
  std::uint8_t lines[2 * reach][kSize];
  for (int i = 0; i < 2 * reach; ++i) std::memcpy(lines[i], q0 + (i - reach) * across, kSize);
  for (int i = 0; i < kSize; ++i) {
    const core::EdgeThresholds t = thresholds(i);
    if constexpr (kChroma) {
      const core::EdgeLine s{0, 0, lines[0][i], lines[1][i], lines[2][i], lines[3][i], 0, 0};
      const core::EdgeLine r = kStrong ? core::deblock_strong(s, t, true) : core::deblock_normal(s, t, true);
      lines[1][i] = static_cast<std::uint8_t>(r.p0);
      lines[2][i] = static_cast<std::uint8_t>(r.q0);
    } else {
      const core::EdgeLine s{lines[0][i], lines[1][i], lines[2][i], lines[3][i],
                             lines[4][i], lines[5][i], lines[6][i], lines[7][i]};
      const core::EdgeLine r =
          kStrong ? core::deblock_strong(s, t, false) : core::deblock_normal(s, t, false);
      lines[1][i] = static_cast<std::uint8_t>(r.p2);
      lines[2][i] = static_cast<std::uint8_t>(r.p1);
      lines[3][i] = static_cast<std::uint8_t>(r.p0);
      lines[4][i] = static_cast<std::uint8_t>(r.q0);
      lines[5][i] = static_cast<std::uint8_t>(r.q1);
      lines[6][i] = static_cast<std::uint8_t>(r.q2);
    }
  }
  for (int i = 1; i < 2 * reach - 1; ++i) std::memcpy(q0 + (i - reach) * across, lines[i], kSize);
}

// Calls filter(first) with a transposed copy of the plane, in which the lines of vertical edges lie side by
// side, kSize samples from one to the next. With `left` the copy has the samples to the left.
template <int kSize, bool kChroma, class Filter>
static inline void filter_turned(std::uint8_t* samples, std::ptrdiff_t pitch, bool left,
                                 const Filter& filter) {
  constexpr int kBefore = kReach[kChroma];
  const int first = left ? 0 : kBefore;  // there are no samples outside the picture
  std::uint8_t turned[kBefore + kSize][kSize];
  for (int y = 0; y < kSize; ++y) {
    const std::uint8_t* row = samples + y * pitch;
    for (int x = first; x < kBefore + kSize; ++x) turned[x][y] = row[x - kBefore];
  }
  filter(turned[kBefore]);
  for (int y = 0; y < kSize; ++y) {
    std::uint8_t* row = samples + y * pitch;
    for (int x = first; x < kBefore + kSize; ++x) row[x - kBefore] = turned[x][y];
  }
}

}  // namespace cu264::encoder::CU264_ISA
