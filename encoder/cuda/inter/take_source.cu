#include "encoder/cuda/inter/take_source.h"

#include "common/cuda/error_check.h"
#include "core/motion_limits.h"
#include "core/motion_search.h"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {
namespace {

constexpr int kThreads = 128, kPad = core::kReferencePad;
constexpr int kTaken = 16;  // samples that a thread copies

// Sixteen samples from column x on of a row of `width`, which is repeated on both sides.
__device__ uint4 sixteen_samples(const std::uint8_t* row, int x, int width) {
  const std::uint8_t* const from = row + x;
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  uint4 samples;
  if (x >= 0 && x + kTaken <= width && address % sizeof(uint4) == 0) {
    samples = *reinterpret_cast<const uint4*>(from);
  } else if (x >= 4 && x + kTaken + 4 <= width) {  // so that all words that are read are of this row
    samples.x = four_samples_at(from), samples.y = four_samples_at(from + 4);
    samples.z = four_samples_at(from + 8), samples.w = four_samples_at(from + 12);
  } else {
    std::uint32_t words[4] = {};
#pragma unroll
    for (int i = 0; i < kTaken; ++i) {
      words[i / 4] |= std::uint32_t{row[min(max(x + i, 0), width - 1)]} << (8 * (i % 4));
    }
    samples = {words[0], words[1], words[2], words[3]};
  }
  return samples;
}

__global__ void __launch_bounds__(kThreads) take_full_size(const __grid_constant__ StepView step) {
  const BatchView& batch = step.batch;
  const int picture = static_cast<int>(blockIdx.z);
  const int x = kTaken * static_cast<int>(blockIdx.x * kThreads + threadIdx.x) - kPad;
  const int y = static_cast<int>(blockIdx.y) - kPad;
  if (x >= 16 * batch.mb_width + kPad) return;
  const SourcePicture& source = batch.sources[picture];
  const std::uint8_t* const row = source.plane[0] + min(max(y, 0), batch.height - 1) * source.pitch[0];
  const ChainView& chain = step.chains[picture];
  *reinterpret_cast<uint4*>(chain.source[0].at(x, y)) = sixteen_samples(row, x, batch.width);
  if (!batch.params[picture].key || x < 0 || y < 0) return;
  // The first sample of a macroblock stands for it.
  if (y % 16 == 0) chain.whole[1][y / 16 * batch.mb_width + x / 16] = core::motion_vector(0, 0);
}

// The sums of neighbouring samples, in the halves of a word.
__device__ std::uint32_t pair_sums(std::uint32_t samples) {
  return (samples & 0x00ff00ffu) + (samples >> 8 & 0x00ff00ffu);
}

// Four samples of core::shrunk_sample.
__device__ std::uint32_t shrink(uint2 upper, uint2 lower) {
  const std::uint32_t left = pair_sums(upper.x) + pair_sums(lower.x) + 0x00020002u;
  const std::uint32_t right = pair_sums(upper.y) + pair_sums(lower.y) + 0x00020002u;
  return __byte_perm(left >> 2 & 0x00ff00ffu, right >> 2 & 0x00ff00ffu, 0x6420);
}

// Makes the source of size `size` from the next greater one. A thread makes four samples.
__global__ void __launch_bounds__(kThreads) shrink_source(const __grid_constant__ StepView step, int size) {
  const int picture = static_cast<int>(blockIdx.z);
  const int width = 16 * step.batch.mb_width >> size, height = 16 * step.batch.mb_height >> size;
  const int x = 4 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x) - kPad;
  const int y = static_cast<int>(blockIdx.y) - kPad;
  if (x >= width + kPad) return;
  const DevicePlane& from = step.chains[picture].source[size - 1];
  const int row = 2 * min(max(y, 0), height - 1);
  std::uint32_t samples;
  if (x >= 0 && x < width) {
    samples = shrink(*reinterpret_cast<const uint2*>(from.at(2 * x, row)),
                     *reinterpret_cast<const uint2*>(from.at(2 * x, row + 1)));
  } else {
    const int column = x < 0 ? 0 : 2 * (width - 1);
    const std::uint8_t *const upper = from.at(column, row), *const lower = from.at(column, row + 1);
    samples =
        0x01010101u * static_cast<std::uint32_t>(core::shrunk_sample(upper[0], upper[1], lower[0], lower[1]));
  }
  *reinterpret_cast<std::uint32_t*>(step.chains[picture].source[size].at(x, y)) = samples;
}

unsigned blocks_of(int samples, int taken) {
  return static_cast<unsigned>((samples + taken * kThreads - 1) / (taken * kThreads));
}

}  // namespace

void launch_take_source(const StepView& step, cudaStream_t stream) {
  const BatchView& batch = step.batch;
  if (batch.pictures == 0) return;
  for (int size = 0; size < ChainView::kSizes; ++size) {
    const int width = (16 * batch.mb_width >> size) + 2 * kPad;
    const int height = (16 * batch.mb_height >> size) + 2 * kPad;
    const dim3 grid(blocks_of(width, size == 0 ? kTaken : 4), static_cast<unsigned>(height),
                    static_cast<unsigned>(batch.pictures));
    if (size == 0) {
      take_full_size<<<grid, kThreads, 0, stream>>>(step);
      check_launch("take_full_size");
    } else {
      shrink_source<<<grid, kThreads, 0, stream>>>(step, size);
      check_launch("shrink_source");
    }
  }
}

}  // namespace cu264::encoder::cuda
