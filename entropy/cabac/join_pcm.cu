// Puts the samples of I_PCM macroblocks into the strings, and behind them the codewords that the chunks began
// there. A warp looks for I_PCM among 32 macroblocks.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/piece_bits.cuh"
#include "entropy/cavlc/source_samples.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 256;

// Adds the 384 samples of a macroblock to a string, from byte `position` on (H.264 7.3.5). A warp calls this.
__device__ void add_samples(const ChunkJob& job, std::uint32_t* d_words, std::uint32_t position, int picture,
                            int mb, int lane) {
  constexpr int kSamples = kPcmSampleBits / 8;
  const core::SourcePicture& source = job.batch.sources[picture];
  const int mb_x = mb % job.batch.mb_width, mb_y = mb / job.batch.mb_width;
  const int before = static_cast<int>(position % 4);  // bytes of the first word that are not samples
  for (int word = lane; 4 * word - before < kSamples; word += 32) {
    std::uint32_t value = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int i = 4 * word - before + k;
      const bool exists = i >= 0 && i < kSamples;
      value = value << 8 | (exists ? pcm_sample(job.batch, source, mb_x, mb_y, i) : 0);
    }
    atomicAdd(d_words + position / 4 + word, value);
  }
}

__device__ void join(const ChunkJob& job, const SliceSpan& span, std::uint32_t slice, int mb, int lane) {
  const PcmRecord own = job.memory.pcm[job.pcm_at(slice) + static_cast<std::size_t>(mb - span.first)];
  const ChunkRecord& chunk = job.memory.records[job.chunk_at(slice, own.chunk)];
  std::uint32_t* const d_words = job.strings + job.layout.string_of(slice);
  // The string's bits behind those of the piece, which lacks the alignment and the samples.
  const std::uint64_t first = core::next_byte_boundary(chunk.position + chunk.front_bits),
                      moved = first - core::next_byte_boundary(chunk.front_bits);
  const auto samples = static_cast<std::uint32_t>(own.begin + moved) + own.before * kPcmSampleBits;
  add_samples(job, d_words, samples / 8, span.picture, mb, lane);
  add_bits(d_words, samples + kPcmSampleBits, job.piece_at(slice, own.chunk), own.begin, own.end,
           static_cast<std::uint32_t>(lane));
}

// `blocks`: thread blocks of a slice.
__global__ void __launch_bounds__(kThreads)
    join_pcm(const __grid_constant__ ChunkJob job, std::uint32_t blocks) {
  const std::uint32_t slice = blockIdx.x / blocks;
  const StringRecord& record = job.records[slice];
  if (record.mbs[static_cast<int>(core::MacroblockKind::pcm)] == 0) return;
  if (job.chunks_of(slice) == 0 || record.broken != 0) return;
  const SliceSpan span = slice_span(job.batch, slice);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int mb = span.first + static_cast<int>(blockIdx.x % blocks) * kThreads + thread;
  const core::MacroblockRecord* const d_mbs =
      job.batch.macroblocks + static_cast<std::ptrdiff_t>(span.picture) * job.batch.macroblocks_per_picture();
  std::uint32_t pcm = __ballot_sync(kAllLanes, mb < span.end && d_mbs[mb].kind == core::MacroblockKind::pcm);
  for (; pcm != 0; pcm &= pcm - 1) join(job, span, slice, mb - lane + __ffs(static_cast<int>(pcm)) - 1, lane);
}

}  // namespace

void launch_join_pcm(const ChunkJob& job, cudaStream_t stream) {
  const auto blocks = static_cast<std::uint32_t>((job.layout.most_macroblocks + kThreads - 1) / kThreads);
  const auto slices = static_cast<std::uint32_t>(job.layout.slice_count());
  join_pcm<<<slices * blocks, kThreads, 0, stream>>>(job, blocks);
  check_launch("join_pcm");
}

}  // namespace cu264::entropy
