// A thread a word: adds the parts' sums bit by bit, then looks at the pixels that have one.
#include "vision/cuda/counts.h"
#include "vision/cuda/launch_check.h"
#include "vision/cuda/link.cuh"

namespace cu264::vision::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    count_levels(const __grid_constant__ WordGrid grid, const __grid_constant__ CandidateSet set,
                 const __grid_constant__ LinkWork link, const __grid_constant__ CountWork work) {
  __shared__ LevelCounts s_counts;
  __shared__ std::uint8_t s_rank[kTopLevel + 1];
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += kThreads) {
    s_counts.with_level[v] = s_counts.histogram[v] = 0;
    s_rank[v] = set.rank[v];
  }
  __syncthreads();
  const int sub_image = static_cast<int>(blockIdx.y), picture = static_cast<int>(blockIdx.z);
  const int pictures = static_cast<int>(gridDim.z);
  const SubWords sub = sub_words(grid, sub_image);
  const std::uint32_t index = sub.first + blockIdx.x * kThreads + threadIdx.x;
  const int highest = highest_candidate(set), pairs = pair_count(set);
  if (index < sub.first + sub.count) {
    SumBits sums;
    sums.load(link.sums + plane_words(grid, picture, kSumPlanes) + index, grid.words());
    for (int part = 1; part < link.parts; ++part) {
      SumBits more;
      more.load(link.sums + plane_words(grid, part * pictures + picture, kSumPlanes) + index, grid.words());
      sums.add(more);
    }
    LevelBits levels;
    levels.load(link.levels + plane_words(grid, picture, kLevelPlanes) + index, grid.words());
    std::uint32_t rest = 0;
#pragma unroll
    for (int b = 0; b < kSumPlanes; ++b) rest |= sums.bit[b];
    const WordPlace at = word_place(grid, index);
    std::uint16_t* const d_sm =
        work.sm == nullptr ? nullptr
                           : work.sm + (static_cast<std::size_t>(picture) * grid.all.height + at.y) * grid.all.width + at.x;
    if (d_sm != nullptr) {
      for (int x = 0; x < min(kWordPixels, grid.all.width - at.x); ++x) d_sm[x] = 0;
    }
    for (; rest != 0; rest &= rest - 1) {
      const std::uint32_t pixel = lowest_bit(rest);
      const int level = levels.at(pixel), sm = sums.at(pixel) - own_share(s_rank, level);
      if (d_sm != nullptr) d_sm[pixel] = static_cast<std::uint16_t>(sm);
      const int prob = probability(sm, pairs);
      if (counts_in_level(level, prob, highest)) atomicAdd(&s_counts.with_level[level], 1);
      if (counts_in_histogram(prob, highest)) atomicAdd(&s_counts.histogram[prob], 1);
    }
  }
  __syncthreads();
  LevelCounts* const d_counts = work.counts + static_cast<std::size_t>(picture) * grid.all.count + sub_image;
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += kThreads) {
    if (s_counts.with_level[v] != 0) atomicAdd(&d_counts->with_level[v], s_counts.with_level[v]);
    if (s_counts.histogram[v] != 0) atomicAdd(&d_counts->histogram[v], s_counts.histogram[v]);
  }
}

}  // namespace

void launch_counts(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& link,
                   const CountWork& work, cudaStream_t stream) {
  const dim3 blocks((grid.most_words() + kThreads - 1) / kThreads, static_cast<unsigned>(grid.all.count),
                    static_cast<unsigned>(pictures));
  count_levels<<<blocks, kThreads, 0, stream>>>(grid, set, link, work);
  check_launch("count_levels");
}

}  // namespace cu264::vision::cuda
