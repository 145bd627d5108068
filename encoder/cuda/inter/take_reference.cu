// A warp copies a row of a plane at a time, eight samples in each lane, with the memory beside it. The rows
// above and below the plane are its first and last ones once more.
#include "encoder/cuda/inter/take_reference.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/cuda/error_check.h"
#include "core/macroblock_layout.h"
#include "core/motion_limits.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kWord = 8;  // samples

// Row y of a plane of `width` x `height` samples, or of the memory around it.
__device__ void copy_padded_row(const std::uint8_t* from, int width, int height, int y, int pad,
                                const DevicePlane& to) {
  const std::uint8_t* const row = from + static_cast<std::size_t>(min(max(y, 0), height - 1)) * width;
  for (int x = kWord * static_cast<int>(threadIdx.x & 31) - pad; x < width + pad; x += 32 * kWord) {
    uint2 samples;
    if (x >= 0 && x < width) {
      samples = *reinterpret_cast<const uint2*>(row + x);
    } else {
      samples.x = samples.y = 0x01010101u * row[x < 0 ? 0 : width - 1];
    }
    *reinterpret_cast<uint2*>(to.at(x, y)) = samples;
  }
}

__global__ void __launch_bounds__(32 * kWarps) take_reference_kernel(const __grid_constant__ StepView step) {
  constexpr int kPad = core::kReferencePad;
  const BatchView& batch = step.batch;
  const int picture = static_cast<int>(blockIdx.y), mbs = batch.macroblocks_per_picture();
  const ChainView& chain = step.chains[picture];
  const int width = 16 * batch.mb_width, height = 16 * batch.mb_height;
  const std::uint8_t* const luma =
      batch.reconstruction + static_cast<std::size_t>(picture) * mbs * core::MacroblockLayout::kSamples;
  const int row = static_cast<int>(blockIdx.x * kWarps + (threadIdx.x >> 5));
  const int luma_rows = height + 2 * kPad, chroma_rows = luma_rows / 2;
  if (row < luma_rows) {
    copy_padded_row(luma, width, height, row - kPad, kPad, chain.next_luma[core::kWholeSamples]);
  } else if (row < luma_rows + 2 * chroma_rows) {
    const int c = row < luma_rows + chroma_rows ? 0 : 1, y = row - luma_rows - c * chroma_rows - kPad / 2;
    copy_padded_row(luma + static_cast<std::size_t>(256 + 64 * c) * mbs, width / 2, height / 2, y, kPad / 2,
                    chain.next_chroma[c]);
  }
}

}  // namespace

void launch_take_reference(const StepView& step, cudaStream_t stream) {
  const int rows = 2 * (16 * step.batch.mb_height + 2 * core::kReferencePad);  // of luma, Cb and Cr
  const dim3 grid(static_cast<unsigned>((rows + kWarps - 1) / kWarps),
                  static_cast<unsigned>(step.batch.pictures));
  take_reference_kernel<<<grid, 32 * kWarps, 0, stream>>>(step);
  check_launch("take_reference_kernel");
}

}  // namespace cu264::encoder::cuda
