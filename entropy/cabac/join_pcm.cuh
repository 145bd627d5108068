// Puts the samples of I_PCM macroblocks into the slices, and after them the codewords that the chunks began
// there. Each warp looks for I_PCM in 32 macroblocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/warp.cuh"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/piece_bits.cuh"
#include "entropy/cavlc/source_samples.cuh"

namespace cu264::entropy {
// Adds the 384 samples of a macroblock to a slice, from byte `position` on (H.264 7.3.5). A warp calls this.
__device__ inline void add_samples(const ChunkJob& job, std::uint32_t* d_words, std::uint32_t position,
                                   int picture, int mb, int lane) {
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

__device__ inline void join_samples(const ChunkJob& job, const SliceSpan& span, std::uint32_t slice, int mb,
                                    int lane) {
  const PcmRecord own = job.pcm_of(slice)[mb];
  // Others belong to another round.
  const std::uint32_t in_round = own.chunk - job.pcm_chunk(0);
  if (own.chunk == 0 || in_round >= job.pool.layout.chunks()) return;
  const ChunkRecord& chunk = job.memory.records[in_round];
  std::uint32_t* const d_words = job.slice_bits + job.layout.first_word_of(slice);
  // How far the slice is ahead of the piece, which lacks the alignment and the samples.
  const std::uint64_t first = core::next_byte_boundary(chunk.position + chunk.front_bits),
                      moved = first - core::next_byte_boundary(chunk.front_bits);
  const auto samples = static_cast<std::uint32_t>(own.begin + moved) + own.before * kPcmSampleBits;
  add_samples(job, d_words, samples / 8, span.picture, mb, lane);
  add_bits(d_words, samples + kPcmSampleBits, job.piece_at(in_round), own.begin, own.end,
           static_cast<std::uint32_t>(lane));
}

// The I_PCM of a slice among macroblocks [32 * part, 32 * (part + 1)). A warp calls this.
__device__ inline void join_pcm(const ChunkJob& job, std::uint32_t slice, std::uint32_t part, int lane) {
  const CabacSliceRecord& record = job.records[slice];
  if (record.mbs[static_cast<int>(core::MacroblockKind::pcm)] == 0 || record.broken != 0) return;
  const SliceSpan span = slice_span(job.batch, slice);
  const int mb = span.first + 32 * static_cast<int>(part) + lane;
  const core::MacroblockRecord* const d_mbs =
      job.batch.macroblocks + static_cast<std::ptrdiff_t>(span.picture) * job.batch.macroblocks_per_picture();
  std::uint32_t pcm = __ballot_sync(kAllLanes, mb < span.end && d_mbs[mb].kind == core::MacroblockKind::pcm);
  for (; pcm != 0; pcm &= pcm - 1)
    join_samples(job, span, slice, mb - lane + __ffs(static_cast<int>(pcm)) - 1, lane);
}

}  // namespace cu264::entropy
