// Half-sample planes, and the prediction of blocks from them.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/inter_pred.h"
#include "core/motion_vector.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"

namespace cu264::encoder::CU264_ISA {

// A row of the three planes of half samples, which may lie up to core::kHalfSamplePad rows outside.
static inline void half_sample_row(GopChain& chain, int y) {
  constexpr int kPad = core::kHalfSamplePad, kMaxWidth = 8192 + 16 + 2 * kPad;
  const PaddedPlane& samples = chain.luma[core::kWholeSamples];
  const std::ptrdiff_t pitch = samples.pitch;
  const int count = samples.width + 2 * kPad;
  const std::uint8_t* const in = samples.at(-kPad, y);
  std::uint8_t* const right = chain.luma[core::kHalfRight].at(-kPad, y);
  std::uint8_t* const down = chain.luma[core::kHalfDown].at(-kPad, y);
  std::uint8_t* const both = chain.luma[core::kHalfBoth].at(-kPad, y);
  // Sums down the columns, from two to the left of the first half sample to three to the right of the last.
  static thread_local std::int16_t columns[kMaxWidth + 5];
  for (int x = -2; x < count + 3; ++x) {
    const std::uint8_t* const s = in + x;
    columns[x + 2] = static_cast<std::int16_t>(
        core::six_tap<int>(s[-2 * pitch], s[-pitch], s[0], s[pitch], s[2 * pitch], s[3 * pitch]));
  }
  for (int x = 0; x < count; ++x) {
    const std::uint8_t* const s = in + x;
    right[x] = static_cast<std::uint8_t>(
        core::half_sample(core::six_tap<int>(s[-2], s[-1], s[0], s[1], s[2], s[3])));
    down[x] = static_cast<std::uint8_t>(core::half_sample(columns[x + 2]));
    both[x] = static_cast<std::uint8_t>(core::centre_sample(core::six_tap<int>(
        columns[x], columns[x + 1], columns[x + 2], columns[x + 3], columns[x + 4], columns[x + 5])));
  }
}

// Where the two samples of a block's first sample are, and the way from row to row.
struct BlockSource {
  const std::uint8_t *first, *second;
  std::ptrdiff_t pitch;
};

static inline BlockSource block_source(const GopChain& chain, int x, int y, core::MotionVector v) {
  const core::QuarterSample q = core::quarter_sample(v.x & 3, v.y & 3);
  const int left = x + (v.x >> 2), top = y + (v.y >> 2);
  return {chain.luma[q.first.plane].at(left + q.first.x, top + q.first.y),
          chain.luma[q.second.plane].at(left + q.second.x, top + q.second.y), chain.luma[0].pitch};
}

static inline void predict_row16(const BlockSource& source, int y, ByteLanes& row) {
  ByteLanes first, second;
  load_bytes(source.first + y * source.pitch, first);
  load_bytes(source.second + y * source.pitch, second);
  mean(first, second, row);
}

// Two rows of an 8x8 block, y and y + 4, side by side.
static inline void predict_rows8(const BlockSource& source, int y, ByteLanes& rows) {
  const std::uint8_t *const a = source.first + y * source.pitch, *const b = source.second + y * source.pitch;
  ByteLanes first, second;
  load_halves(a, a + 4 * source.pitch, first);
  load_halves(b, b + 4 * source.pitch, second);
  mean(first, second, rows);
}

// `out` has rows of sixteen samples; kSize: 16 or 8.
template <int kSize>
static inline void predict_luma(const GopChain& chain, int x, int y, core::MotionVector v,
                                std::uint8_t* out) {
  const BlockSource source = block_source(chain, x, y, v);
  for (int row = 0; row < (kSize == 16 ? 16 : 4); ++row) {
    ByteLanes samples;
    if constexpr (kSize == 16) {
      predict_row16(source, row, samples);
      std::memcpy(out + 16 * row, &samples, 16);
    } else {
      predict_rows8(source, row, samples);
      std::memcpy(out + 16 * row, &samples, 8);
      std::memcpy(out + 16 * (row + 4), reinterpret_cast<const std::uint8_t*>(&samples) + 8, 8);
    }
  }
}

// Eight samples of Cb, then eight of Cr. (x, y) in samples of chroma.
static inline void load_chroma(const GopChain& chain, int x, int y, Lanes& row) {
  ByteLanes bytes;
  load_halves(chain.chroma[0].at(x, y), chain.chroma[1].at(x, y), bytes);
  row = __builtin_convertvector(bytes, Lanes);
}

// Both components of a block of kSize samples, 8 or 4: `out` has rows of sixteen samples, Cb and, eight
// samples further, Cr. What is read beyond a block of 4 lies in the planes or beside them.
template <int kSize>
static inline void predict_chroma(const GopChain& chain, int x, int y, core::MotionVector v,
                                  std::uint8_t* out) {
  const int left = x + (v.x >> 3), top = y + (v.y >> 3);
  Lanes fraction_x, fraction_y, upper[2], lower[2];
  fill(v.x & 7, fraction_x);
  fill(v.y & 7, fraction_y);
  for (int i = 0; i < 2; ++i) load_chroma(chain, left + i, top, upper[i]);
  for (int row = 0; row < kSize; ++row) {
    for (int i = 0; i < 2; ++i) load_chroma(chain, left + i, top + row + 1, lower[i]);
    const ByteLanes samples = __builtin_convertvector(
        core::chroma_sample(upper[0], upper[1], lower[0], lower[1], fraction_x, fraction_y), ByteLanes);
    for (int c = 0; c < 2; ++c) {
      std::memcpy(out + 16 * row + 8 * c, reinterpret_cast<const std::uint8_t*>(&samples) + 8 * c, kSize);
    }
    upper[0] = lower[0], upper[1] = lower[1];
  }
}

}  // namespace cu264::encoder::CU264_ISA
