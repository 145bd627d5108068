// One thread a word, or four where there are few words: they add the parts' sums bit by bit, then look at the
// pixels that have one, each at its share. The block that
// finishes last of a picture's finds its thresholds: only now is known what all sub-images pooled say.
#include "common/cuda/error_check.h"
#include "vision/cuda/counts.h"
#include "vision/cuda/link.cuh"
#include "vision/cuda/search.cuh"

namespace cu264::vision::cuda {
namespace {

constexpr int kThreads = 512;
constexpr std::size_t kManyWords = std::size_t{1} << 17;  // that keep a device busy, a thread each
constexpr int kWarps = kThreads / 32;

__device__ void clear_counts(LevelCounts& s_counts) {
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += kThreads) {
    s_counts.with_level[v] = s_counts.histogram[v] = 0;
  }
}

// Those of a word's `pixels` that have a sum.
__device__ void count_pixels(const CandidateSet& set, const std::uint8_t* s_rank, const SumBits& sums,
                             const LevelBits& levels, std::uint32_t pixels, std::uint16_t* d_sm,
                             LevelCounts& s_counts) {
  const int highest = highest_candidate(set), pairs = pair_count(set);
  std::uint32_t rest = 0;
#pragma unroll
  for (int b = 0; b < kSumPlanes; ++b) rest |= sums.bit[b];
  for (rest &= pixels; rest != 0; rest &= rest - 1) {
    const std::uint32_t pixel = lowest_bit(rest);
    const int level = levels.at(pixel), sm = sums.at(pixel) - own_share(s_rank, level);
    if (d_sm != nullptr) d_sm[pixel] = static_cast<std::uint16_t>(sm);
    const int prob = probability(sm, pairs);
    if (counts_in_level(level, prob, highest)) atomicAdd(&s_counts.with_level[level], 1);
    if (counts_in_histogram(prob, highest)) atomicAdd(&s_counts.histogram[prob], 1);
  }
}

// By all threads of one block, once all counts of the picture are there.
__device__ void search_picture(const LevelCounts* d_counts, int sub_images, int highest,
                               LevelCounts& s_pooled, Thresholds* d_thresholds) {
  __shared__ LevelCounts s_own[kWarps];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) & 31;
  clear_counts(s_pooled);
  __syncthreads();
  for (int x = lane; x <= highest; x += 32) {
    int with_level = 0, histogram = 0;
    for (int s = warp; s < sub_images; s += kWarps) {
      with_level += d_counts[s].with_level[x];
      histogram += d_counts[s].histogram[x];
    }
    if (with_level != 0) atomicAdd(&s_pooled.with_level[x], with_level);
    if (histogram != 0) atomicAdd(&s_pooled.histogram[x], histogram);
  }
  __syncthreads();
  const Thresholds fallback = voted_fallback(s_pooled, highest);
  LevelCounts& s_mine = s_own[warp];
  for (int s = warp; s < sub_images; s += kWarps) {
    for (int x = lane; x <= highest; x += 32) {
      s_mine.with_level[x] = d_counts[s].with_level[x];
      s_mine.histogram[x] = d_counts[s].histogram[x];
    }
    __syncwarp();
    const Thresholds own = voted_own(s_mine, highest);
    if (lane == 0) d_thresholds[s] = own.source == ThresholdSource::own ? own : fallback;
    __syncwarp();
  }
}

template <int kWordThreads>
__global__ void __launch_bounds__(kThreads)
    count_levels(const __grid_constant__ WordGrid grid, const __grid_constant__ CandidateSet set,
                 const __grid_constant__ LinkWork link, const __grid_constant__ CountWork work) {
  constexpr int kThreadPixels = kWordPixels / kWordThreads, kBlockWords = kThreads / kWordThreads;
  __shared__ LevelCounts s_counts;
  __shared__ std::uint8_t s_rank[kTopLevel + 1];
  __shared__ bool s_last;
  clear_counts(s_counts);
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += kThreads) s_rank[v] = set.rank[v];
  __syncthreads();
  const int sub_image = static_cast<int>(blockIdx.y), picture = static_cast<int>(blockIdx.z);
  const int pictures = static_cast<int>(gridDim.z);
  const SubWords sub = sub_words(grid, sub_image);
  const std::uint32_t within = blockIdx.x * kBlockWords + threadIdx.x / kWordThreads,
                      index = sub.first + within;
  const int share = static_cast<int>(threadIdx.x) % kWordThreads, first_pixel = share * kThreadPixels;
  const bool exists = within < sub.count;
  SumBits sums = {};
  for (int part = share; exists && part < link.parts; part += kWordThreads) {
    SumBits more;
    more.load(link.sums + plane_words(grid, part * pictures + picture, link.sum_planes) + index, grid.words(),
              link.sum_planes);
    sums.add(more);
  }
#pragma unroll
  for (int step = 1; step < kWordThreads; step *= 2) {
    SumBits other;
#pragma unroll
    for (int b = 0; b < kSumPlanes; ++b) other.bit[b] = __shfl_xor_sync(kAllLanes, sums.bit[b], step);
    sums.add(other);
  }
  if (exists) {
    LevelBits levels;
    levels.load(link.levels + plane_words(grid, picture, kLevelPlanes) + index, grid.words());
    std::uint16_t* d_sm = nullptr;
    if (work.sm != nullptr) {
      const WordPlace at = word_place(grid, index);
      d_sm = work.sm + (static_cast<std::size_t>(picture) * grid.all.height + at.y) * grid.all.width + at.x;
      const int end = min(first_pixel + kThreadPixels, grid.all.width - at.x);
      for (int x = first_pixel; x < end; ++x) d_sm[x] = 0;
    }
    const std::uint32_t pixels = kWordThreads == 1 ? ~0u : ((1u << (kThreadPixels & 31)) - 1) << first_pixel;
    count_pixels(set, s_rank, sums, levels, pixels, d_sm, s_counts);
  }
  __syncthreads();
  LevelCounts* const d_counts = work.counts + static_cast<std::size_t>(picture) * grid.all.count;
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += kThreads) {
    if (s_counts.with_level[v] != 0) atomicAdd(&d_counts[sub_image].with_level[v], s_counts.with_level[v]);
    if (s_counts.histogram[v] != 0) atomicAdd(&d_counts[sub_image].histogram[v], s_counts.histogram[v]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned before =
        ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>(work.blocks_done[picture])
            .fetch_add(1, ::cuda::memory_order_acq_rel);
    s_last = before + 1 == gridDim.x * gridDim.y;
  }
  __syncthreads();
  if (!s_last) return;
  search_picture(d_counts, grid.all.count, highest_candidate(set), s_counts,
                 work.thresholds + static_cast<std::size_t>(picture) * grid.all.count);
}

}  // namespace

void launch_counts(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& link,
                   const CountWork& work, cudaStream_t stream) {
  const bool many = static_cast<std::size_t>(grid.words()) * pictures >= kManyWords;
  const unsigned block_words = kThreads / (many ? 1u : 4u);
  const dim3 blocks((grid.most_words() + block_words - 1) / block_words,
                    static_cast<unsigned>(grid.all.count), static_cast<unsigned>(pictures));
  if (many) {
    count_levels<1><<<blocks, kThreads, 0, stream>>>(grid, set, link, work);
  } else {
    count_levels<4><<<blocks, kThreads, 0, stream>>>(grid, set, link, work);
  }
  check_launch("count_levels");
}

}  // namespace cu264::vision::cuda
