#include "entropy/cabac/code_slices.h"

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/bit_ops.h"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/source_samples.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 32;

using SliceLane = ArithmeticLane<true>;

struct CodeSlicesJob {
  core::BatchView batch;
  SliceBitsLayout layout;
  ItemPool pool;
  CabacSliceRecord* records;
  std::uint32_t* slice_bits;
  int lanes_log2;  // slices of a warp
};

// Puts the samples of an I_PCM macroblock (H.264 7.3.5) between two codewords.
struct PutSamples {
  const core::BatchView& batch;
  int picture;

  __device__ void operator()(SliceLane& coder, int mb) const {
    coder.end_codeword();
    coder.align();
    const core::SourcePicture& source = batch.sources[picture];
    const int mb_x = mb % batch.mb_width, mb_y = mb / batch.mb_width;
    constexpr int kAtOnce = 8;  // samples whose loads overlap
#pragma unroll 1
    for (int i = 0; i < kPcmSampleBits / 8; i += kAtOnce) {
      std::uint32_t samples[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) samples[k] = pcm_sample(batch, source, mb_x, mb_y, i + k);
#pragma unroll
      for (int k = 0; k < kAtOnce; k += 2) coder.put_bits(samples[k] << 8 | samples[k + 1], 16);
    }
  }
};

__global__ void __launch_bounds__(kThreads) code_slices(const __grid_constant__ CodeSlicesJob job) {
  __shared__ ArithmeticShared<> s_shared;
  const int lane = static_cast<int>(threadIdx.x);
  s_shared.fill_rows(lane);
  __syncwarp();
  const std::uint32_t slice = (blockIdx.x << job.lanes_log2) + static_cast<std::uint32_t>(lane);
  if (lane >> job.lanes_log2 != 0 || slice >= job.layout.slice_count()) return;
  CabacSliceRecord& record = job.records[slice];
  const int picture = static_cast<int>(slice) / job.batch.slices;
  s_shared.start(lane, job.batch.params[picture].qp);
  std::uint32_t* const d_words = job.slice_bits + job.layout.first_word_of(slice);
  SliceLane coder(s_shared, lane, d_words, job.layout.slice_words);
  const PutSamples put_samples{job.batch, picture};
  coder.code(job.pool.items_of(record.first_segment), (record.items + 7) & ~7u, put_samples);
  coder.end_codeword();
  record.bits = coder.finish(d_words);
  record.broken = coder.broken() ? 1 : 0;
}

// With more slices a warp, coding takes fewer instructions and leaves more room to the search; with fewer it
// takes less time. One slice a warp takes four fifths of the time of 32.
int lanes_log2(std::size_t slices) {
  constexpr std::size_t kWarps = 16;
  int log2 = 0;
  while (log2 < 5 && slices >> log2 > kWarps) ++log2;
  return log2;
}

}  // namespace

void launch_code_slices(const core::BatchView& batch, const ItemPool& pool, CabacSliceRecord* d_records,
                        std::uint32_t* d_slice_bits, cudaStream_t stream, int lanes) {
  CodeSlicesJob job{batch, slice_bits_layout(batch), pool, d_records, d_slice_bits, 0};
  const std::size_t slices = job.layout.slice_count();
  job.lanes_log2 = lanes > 0 ? core::highest_bit(static_cast<std::uint32_t>(lanes)) : lanes_log2(slices);
  const auto warps = static_cast<unsigned>(((slices - 1) >> job.lanes_log2) + 1);
  code_slices<<<warps, kThreads, 0, stream>>>(job);
  check_launch("code_slices");
}

}  // namespace cu264::entropy
