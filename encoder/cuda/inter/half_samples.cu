// A thread goes down four columns, and keeps the sums across of the last six rows in registers.
#include "encoder/cuda/inter/half_samples.h"

#include "common/cuda/error_check.h"
#include "core/inter_pred.h"
#include "core/motion_limits.h"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {
namespace {

constexpr int kThreads = 128, kPad = core::kHalfSamplePad;
constexpr int kLeft = (kPad + 3) / 4 * 4;  // the first column is that of a word
constexpr int kRows = 24;                  // that a thread makes
constexpr int kTaps = 6;

// What a thread keeps of a row.
struct Row {
  int across[4];            // the filter's sums
  std::uint32_t even, odd;  // samples in the halves of a word
};

// The signed products of the filter with four samples, whose values are less by 128.
__device__ int products(std::uint32_t samples, std::uint32_t taps, int sum) {
  return __dp4a(static_cast<int>(samples ^ 0x80808080u), static_cast<int>(taps), sum);
}

// `in_padding`: the word after the four samples is. Of those before the end of the padding, only the first
// has half samples, which do not depend on it.
__device__ void load_row(const std::uint8_t* samples, bool in_padding, Row& row) {
  constexpr std::uint32_t kFirstTaps = 0x1414fb01u;  // 1, -5, 20, 20
  constexpr std::uint32_t kLastTaps = 0x000001fbu;   // -5, 1, 0, 0
  constexpr int kOffset = 128 * 32;                  // 32: the sum of all taps
  const auto* const words = reinterpret_cast<const std::uint32_t*>(samples);
  const std::uint32_t left = __ldg(words - 1), middle = __ldg(words);
  const std::uint32_t right = in_padding ? __ldg(words + 1) : middle;
  row.even = middle & 0x00ff00ffu, row.odd = middle >> 8 & 0x00ff00ffu;
  const std::uint32_t at_2 = __funnelshift_r(middle, right, 16), at_3 = __funnelshift_r(middle, right, 24);
  row.across[0] = products(__funnelshift_r(left, middle, 16), kFirstTaps, products(at_2, kLastTaps, kOffset));
  row.across[1] = products(__funnelshift_r(left, middle, 24), kFirstTaps, products(at_3, kLastTaps, kOffset));
  row.across[2] = products(middle, kFirstTaps, products(right, kLastTaps, kOffset));
  // The last two taps are those of the last two samples from column 3 on.
  row.across[3] =
      products(__funnelshift_r(middle, right, 8), kFirstTaps, products(at_3, kLastTaps << 16, kOffset));
}

// Filtered sums down two columns at once, in the halves of a word. They are kept positive.
struct TwoSums {
  // Times 32 this is no less than the least sum, -5 * 2 * 255.
  static constexpr int kPositive = 80;
  std::uint32_t sums;

  __device__ TwoSums(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, std::uint32_t e,
                     std::uint32_t f)
      : sums(a + f + 20 * (c + d) + 0x00010001u * (32 * kPositive) - 5 * (b + e)) {}

  __device__ int first() const {
    return core::half_sample_value(static_cast<int>(sums & 0xffffu)) - kPositive;
  }
  __device__ int second() const { return core::half_sample_value(static_cast<int>(sums >> 16)) - kPositive; }
};

__global__ void __launch_bounds__(kThreads) make_half_samples(const __grid_constant__ StepView step) {
  const int width = 16 * step.batch.mb_width, height = 16 * step.batch.mb_height;
  const int x = 4 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x) - kLeft;
  if (x >= width + kPad) return;
  const int first = kRows * static_cast<int>(blockIdx.y) - kPad, end = min(first + kRows, height + kPad);
  const ChainView& chain = step.chains[blockIdx.z];
  const bool in_padding = x + 8 <= width + core::kReferencePad;
  const int pitch = chain.next_luma[0].pitch;
  const std::uint8_t* samples = chain.next_luma[0].at(x, first - 2);
  std::uint8_t* right = chain.next_luma[core::kHalfRight].at(x, first);
  const std::ptrdiff_t distance = chain.next_luma[1].samples - chain.next_luma[0].samples;

  Row rows[kTaps];
#pragma unroll
  for (int i = 0; i < kTaps - 1; ++i, samples += pitch) load_row(samples, in_padding, rows[i]);
  int y = first;
#pragma unroll 1
  while (y < end) {
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      if (y >= end) break;
      load_row(samples, in_padding, rows[(i + 5) % kTaps]);
      const Row &a = rows[i], &b = rows[(i + 1) % kTaps], &c = rows[(i + 2) % kTaps],
                &d = rows[(i + 3) % kTaps], &e = rows[(i + 4) % kTaps], &f = rows[(i + 5) % kTaps];
      int across[4], both[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        across[k] = core::half_sample_value(c.across[k]);
        both[k] = core::centre_sample_value(
            core::six_tap<int>(a.across[k], b.across[k], c.across[k], d.across[k], e.across[k], f.across[k]));
      }
      const TwoSums even(a.even, b.even, c.even, d.even, e.even, f.even);
      const TwoSums odd(a.odd, b.odd, c.odd, d.odd, e.odd, f.odd);
      *reinterpret_cast<std::uint32_t*>(right) = clip_four(across[0], across[1], across[2], across[3]);
      *reinterpret_cast<std::uint32_t*>(right + distance) =
          clip_four(even.first(), odd.first(), even.second(), odd.second());
      *reinterpret_cast<std::uint32_t*>(right + 2 * distance) = clip_four(both[0], both[1], both[2], both[3]);
      samples += pitch, right += pitch, ++y;
    }
  }
}

}  // namespace

void launch_half_samples(const StepView& step, cudaStream_t stream) {
  const BatchView& batch = step.batch;
  if (batch.pictures == 0) return;
  const int columns = 16 * batch.mb_width + kLeft + kPad, rows = 16 * batch.mb_height + 2 * kPad;
  const dim3 grid(static_cast<unsigned>((columns + 4 * kThreads - 1) / (4 * kThreads)),
                  static_cast<unsigned>((rows + kRows - 1) / kRows), static_cast<unsigned>(batch.pictures));
  make_half_samples<<<grid, kThreads, 0, stream>>>(step);
  check_launch("make_half_samples");
}

}  // namespace cu264::encoder::cuda
