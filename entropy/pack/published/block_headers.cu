#include "entropy/pack/published/block_headers.h"

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "entropy/cavlc/source_samples.cuh"
#include "entropy/cavlc/word_sink.cuh"
#include "entropy/pack/published/slice_items.cuh"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 128;

// Writes the samples of an I_PCM macroblock, number `mb` of its picture. All lanes must call this.
__device__ void put_samples(const core::BatchView& batch, const BlockItems& items, int picture, int mb,
                            int lane) {
  const std::size_t first =
      (static_cast<std::size_t>(picture) * batch.macroblocks_per_picture() + mb) * core::kBlocksPerMacroblock;
  for (int i = lane; i < kPcmSampleBits / 32; i += 32) {
    std::uint32_t word = 0;
    for (int k = 0; k < 4; ++k) {
      word = word << 8 |
             pcm_sample(batch, batch.sources[picture], mb % batch.mb_width, mb / batch.mb_width, 4 * i + k);
    }
    items.codes.words[first * kBlockWords + i] = word;
  }
  if (lane < BlockItems::kPcmBlocks) items.codes.lengths[first + lane] = kThreadBits;
}

// Each warp takes a group, each lane a macroblock.
template <bool kModeCodes>
__global__ void __launch_bounds__(kThreads)
    write_headers(const __grid_constant__ core::BatchView batch, const __grid_constant__ BlockItems items) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const GroupLayout layout = group_layout(batch);
  const std::uint32_t index = (blockIdx.x * kThreads + threadIdx.x) / 32;
  if (index >= layout.groups()) return;
  const Group group = group_at(batch, layout, index);
  if (group.first >= group.end) return;
  const MacroblockLane mb(batch, group, lane);
  const Neighbours neighbours = mb.neighbours(batch);
  if (mb.exists) {
    const std::size_t at =
        static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture() + mb.index;
    WordSink sink{ArrayStore{items.header_words + at * BlockItems::kHeaderWords}};
    mb.put_header<kModeCodes>(sink, neighbours);
    items.header_lengths[at] = static_cast<std::uint16_t>(sink.finish());
  }
  const unsigned pcm = __ballot_sync(kAllLanes, mb.exists && mb.record.kind == core::MacroblockKind::pcm);
  for (unsigned rest = pcm; rest != 0; rest &= rest - 1)
    put_samples(batch, items, group.picture, group.first + __ffs(static_cast<int>(rest)) - 1, lane);
}

}  // namespace

void launch_block_headers(const core::BatchView& batch, const BlockItems& items, cudaStream_t stream) {
  const std::size_t groups = group_layout(batch).groups();
  constexpr std::size_t kWarps = kThreads / 32;
  const auto grid = static_cast<unsigned>((groups + kWarps - 1) / kWarps);
  const auto kernel = batch.mode_codes ? write_headers<true> : write_headers<false>;
  kernel<<<grid, kThreads, 0, stream>>>(batch, items);
  check_launch("write_headers");
}

}  // namespace cu264::entropy
