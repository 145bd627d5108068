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

template <int kWidth, int kHeight>
static inline void predict_luma(const GopChain& chain, int x, int y, core::MotionVector v, std::uint8_t* out,
                                int out_pitch) {
  const BlockSource s = block_source(chain, x, y, v);
  for (int row = 0; row < kHeight; ++row) {
    for (int i = 0; i < kWidth; ++i) {
      out[row * out_pitch + i] = static_cast<std::uint8_t>(
          core::sample_mean(s.first[row * s.pitch + i], s.second[row * s.pitch + i]));
    }
  }
}

// (x, y) in samples of chroma.
template <int kWidth, int kHeight>
static inline void predict_chroma(const GopChain& chain, int component, int x, int y, core::MotionVector v,
                                  std::uint8_t* out, int out_pitch) {
  const PaddedPlane& plane = chain.chroma[component];
  const std::uint8_t* const s = plane.at(x + (v.x >> 3), y + (v.y >> 3));
  const int fraction_x = v.x & 7, fraction_y = v.y & 7;
  for (int row = 0; row < kHeight; ++row) {
    const std::uint8_t *upper = s + row * plane.pitch, *lower = upper + plane.pitch;
    for (int i = 0; i < kWidth; ++i) {
      out[row * out_pitch + i] = static_cast<std::uint8_t>(
          core::chroma_sample(upper[i], upper[i + 1], lower[i], lower[i + 1], fraction_x, fraction_y));
    }
  }
}

}  // namespace cu264::encoder::CU264_ISA
