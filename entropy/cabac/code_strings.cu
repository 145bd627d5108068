#include "entropy/cabac/code_strings.h"

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/bit_ops.h"
#include "entropy/cabac/arithmetic_lane.cuh"
#include "entropy/cabac/macroblock_items.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/source_samples.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 32;

using StringLane = ArithmeticLane<true>;

struct CodeStringsJob {
  core::BatchView batch;
  StringLayout layout;
  BinariseScratch scratch;  // of code_long_strings
  std::uint16_t* items;
  StringRecord* records;
  std::uint32_t* strings;
  int lanes_log2;  // slices of a warp in code_strings
};

// Puts the samples of an I_PCM macroblock (H.264 7.3.5) between two codewords.
struct PutSamples {
  const core::BatchView& batch;
  int picture;

  __device__ void operator()(StringLane& coder, int mb) const {
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

// Ends the string of a slice.
__device__ void finish_string(StringLane& coder, const std::uint32_t* d_words, StringRecord& record) {
  coder.end_codeword();
  record.bits = coder.finish(d_words);
  record.broken = coder.broken() ? 1 : 0;
}

__global__ void __launch_bounds__(kThreads) code_strings(const __grid_constant__ CodeStringsJob job) {
  __shared__ ArithmeticShared s_shared;
  const int lane = static_cast<int>(threadIdx.x);
  s_shared.fill_rows(lane);
  __syncwarp();
  const std::uint32_t slice = (blockIdx.x << job.lanes_log2) + static_cast<std::uint32_t>(lane);
  if (lane >> job.lanes_log2 != 0 || slice >= job.layout.slice_count()) return;
  StringRecord& record = job.records[slice];
  if (!fits_window(job.layout, record)) return;
  const int picture = static_cast<int>(slice) / job.batch.slices;
  s_shared.start(lane, job.batch.params[picture].qp);
  std::uint32_t* const d_words = job.strings + job.layout.string_of(slice);
  StringLane coder(s_shared, lane, d_words, job.layout.string_words);
  const PutSamples put_samples{job.batch, picture};
  coder.code(job.items + job.layout.window_of(slice), (record.items + 7) & ~7u, put_samples);
  finish_string(coder, d_words, record);
}

// Writes items [begin, begin + count) of a slice to its window.
__device__ void write_window(const CodeStringsJob& job, const SliceSpan& slice, std::uint16_t* d_window,
                             std::uint32_t begin, std::uint32_t count, int lane) {
  const std::size_t first = static_cast<std::size_t>(slice.picture) * job.batch.macroblocks_per_picture();
  for (int mb = slice.first + lane; mb < slice.end; mb += 32) {
    const std::uint32_t its_begin = job.scratch.begins[first + mb],
                        its_count = job.scratch.counts[first + mb] & 0xffff;
    if (its_begin >= begin + count || its_begin + its_count <= begin) continue;
    ItemSink<WindowStore> sink{{d_window, its_begin - begin, count}};
    put_macroblock_items(sink, job.batch, slice, mb);
  }
  for (std::uint32_t i = count + static_cast<std::uint32_t>(lane); i < ((count + 7) & ~7u); i += 32) {
    d_window[i] = core::kPaddingItem;
  }
}

__global__ void __launch_bounds__(kThreads) code_long_strings(const __grid_constant__ CodeStringsJob job) {
  __shared__ ArithmeticShared s_shared;
  const int lane = static_cast<int>(threadIdx.x);
  const std::uint32_t slice_index = blockIdx.x, items = job.records[slice_index].items;
  if (fits_window(job.layout, job.records[slice_index])) return;
  const SliceSpan slice = slice_span(job.batch, slice_index);
  s_shared.fill_rows(lane);
  s_shared.start(lane, job.batch.params[slice.picture].qp);
  __syncwarp();
  std::uint16_t* const d_window = job.items + job.layout.window_of(slice_index);
  std::uint32_t* const d_words = job.strings + job.layout.string_of(slice_index);
  StringLane coder(s_shared, lane, d_words, job.layout.string_words);
  const PutSamples put_samples{job.batch, slice.picture};
  for (std::uint32_t begin = 0; begin < items; begin += job.layout.window_items) {
    const std::uint32_t count = min(items - begin, job.layout.window_items);
    write_window(job, slice, d_window, begin, count, lane);
    __syncwarp();
    if (lane == 0) coder.code(d_window, (count + 7) & ~7u, put_samples);
    __syncwarp();
  }
  if (lane == 0) finish_string(coder, d_words, job.records[slice_index]);
}

// More slices a warp take fewer instructions and leave more room to the search, fewer take less time: one
// takes four fifths of the time of 32.
int lanes_log2(std::size_t slices) {
  constexpr std::size_t kWarps = 16;
  int log2 = 0;
  while (log2 < 5 && slices >> log2 > kWarps) ++log2;
  return log2;
}

}  // namespace

void launch_code_strings(const core::BatchView& batch, const std::uint16_t* d_items, StringRecord* d_records,
                         std::uint32_t* d_strings, cudaStream_t stream, int lanes, WindowSize windows) {
  CodeStringsJob job{
      batch, string_layout(batch, windows), {}, const_cast<std::uint16_t*>(d_items), d_records, d_strings, 0};
  const std::size_t slices = job.layout.slice_count();
  job.lanes_log2 = lanes > 0 ? core::highest_bit(static_cast<std::uint32_t>(lanes)) : lanes_log2(slices);
  // Without a preference the first block on a multiprocessor would turn nearly all of its cache into shared
  // memory, and the search beside it would go without.
  constexpr int kSharedPercent = 44;
  check_cuda(
      cudaFuncSetAttribute(code_strings, cudaFuncAttributePreferredSharedMemoryCarveout, kSharedPercent),
      "cudaFuncSetAttribute");
  const auto warps = static_cast<unsigned>(((slices - 1) >> job.lanes_log2) + 1);
  code_strings<<<warps, kThreads, 0, stream>>>(job);
  check_launch("code_strings");
}

void launch_code_long_strings(const core::BatchView& batch, const BinariseScratch& scratch,
                              std::uint16_t* d_items, StringRecord* d_records, std::uint32_t* d_strings,
                              cudaStream_t stream, WindowSize windows) {
  const CodeStringsJob job{batch, string_layout(batch, windows), scratch, d_items, d_records, d_strings, 0};
  code_long_strings<<<static_cast<unsigned>(job.layout.slice_count()), kThreads, 0, stream>>>(job);
  check_launch("code_long_strings");
}

}  // namespace cu264::entropy
