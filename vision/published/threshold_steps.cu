// Steps 4 to 8 as published: a thread block takes a sub-image and a candidate pair, or a sub-image and a
// level.
#include <algorithm>
#include <cuda/atomic>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "common/cuda/warp.cuh"
#include "vision/cuda/threshold_search.cuh"
#include "vision/published/passes.cuh"
#include "vision/published/published_launches.h"
#include "vision/published/reference_stages.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kThreads = 256;

// The paper's region: the pixels of a word, in a dense array.
struct Region {
  std::size_t at;
  int pixels;
};

__device__ Region region_at(const WordGrid& grid, std::uint32_t word) {
  const WordPosition position = word_position(grid, word);
  return {static_cast<std::size_t>(position.y) * grid.layout.width + position.x,
          min(kWordPixels, grid.layout.width - position.x)};
}

// The three maps of a block are in shared memory or in its own part of `d_maps`.
__device__ PassMaps block_maps(const WordGrid& grid, std::uint32_t count, std::uint32_t* d_maps) {
  extern __shared__ std::uint32_t s_maps[];
  std::uint32_t* const maps =
      d_maps == nullptr ? s_maps : d_maps + static_cast<std::size_t>(blockIdx.x) * 3 * grid.most_words();
  return {maps, maps + count, maps + 2 * static_cast<std::size_t>(count), count, grid.row_words()};
}

// The bytes of a region, one for each pixel, in registers (step 1 of Algorithms 2 and 6, steps 2 and 3 of
// Algorithm 4). The paper's rows are padded to whole regions, so that all of them are aligned; here a region
// that is not is read byte by byte.
struct RegionBytes {
  std::uint32_t word[kWordPixels / 4];

  __device__ int operator[](int p) const {
    return static_cast<int>(__byte_perm(word[p / 4], 0, 0x4440 + p % 4));
  }
};

__device__ RegionBytes read_region(const std::uint8_t* d_pixels, const Region& region) {
  const std::uint8_t* const d_region = d_pixels + region.at;
  if (region.pixels == kWordPixels && reinterpret_cast<std::uintptr_t>(d_region) % sizeof(uint4) == 0) {
    const uint4 a = reinterpret_cast<const uint4*>(d_region)[0],
                b = reinterpret_cast<const uint4*>(d_region)[1];
    return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
  }
  RegionBytes bytes{};
#pragma unroll
  for (int p = 0; p < kWordPixels; ++p) {
    if (p < region.pixels) bytes.word[p / 4] |= std::uint32_t{d_region[p]} << (8 * (p % 4));
  }
  return bytes;
}

// Step 2 of Algorithms 2 and 6. Pixels outside of the picture have level 0, which is neither.
__device__ RegionMasks region_masks(const std::uint8_t* d_level, const Region& region,
                                    const Thresholds& thresholds) {
  const RegionBytes level = read_region(d_level, region);
  RegionMasks masks;
#pragma unroll
  for (int p = 0; p < kWordPixels; ++p) {
    masks.strong |= static_cast<std::uint32_t>(is_strong(level[p], thresholds)) << p;
    masks.weak |= static_cast<std::uint32_t>(is_weak(level[p], thresholds)) << p;
  }
  return masks;
}

// Steps 1 to 3 of Algorithms 2 and 6 for a sub-image, whose threads pass each of their regions to
// visit(index, region, strong pixels, edges).
template <class Visit>
__device__ __forceinline__ void link_sub_image(const WordGrid& grid, const SubWords& sub,
                                               const std::uint8_t* d_level, const Thresholds& thresholds,
                                               const PassMaps& maps, const Visit& visit) {
  if (sub.count <= blockDim.x) {
    const bool exists = threadIdx.x < sub.count;
    Region region{0, 0};
    RegionMasks masks;
    if (exists) {
      region = region_at(grid, sub.first + threadIdx.x);
      masks = region_masks(d_level, region, thresholds);
    }
    const std::uint32_t edges = run_passes_in_registers(maps, masks);
    if (exists) visit(threadIdx.x, region, masks.strong, edges);
    return;
  }
  // More regions than a block has threads, which the paper rules out.
  for (std::uint32_t i = threadIdx.x; i < sub.count; i += blockDim.x) {
    const RegionMasks masks = region_masks(d_level, region_at(grid, sub.first + i), thresholds);
    maps.now[i] = masks.strong;
    maps.unstable[i] = masks.weak;
  }
  const std::uint32_t* const edges = run_passes(maps);
  for (std::uint32_t i = threadIdx.x; i < sub.count; i += blockDim.x) {
    const Region region = region_at(grid, sub.first + i);
    visit(i, region, region_masks(d_level, region, thresholds).strong, edges[i]);
  }
}

// Candidate pair `index` in the order (0, 1), (0, 2) .. (0, n - 1), (1, 2) ..
__device__ Thresholds candidate_pair(const CandidateSet& set, int index) {
  int low = 0;
  while (index >= set.count - 1 - low) index -= set.count - 1 - low++;
  return {set.level[low], set.level[low + 1 + index], ThresholdSource::fixed, 0};
}

__global__ void __launch_bounds__(kMaxThreads)
    calc_sm(const __grid_constant__ WordGrid grid, const __grid_constant__ CandidateSet set,
            const std::uint8_t* d_level, std::uint32_t* d_sm, std::uint32_t* d_maps) {
  const int pairs = pair_count(set), work = pairs * grid.layout.count;
  for (int w = static_cast<int>(blockIdx.x); w < work; w += static_cast<int>(gridDim.x)) {
    const SubWords sub = sub_words(grid, w / pairs);
    const PassMaps maps = block_maps(grid, sub.count, d_maps);
    // A linked pixel is an edge that is not strong.
    link_sub_image(grid, sub, d_level, candidate_pair(set, w % pairs), maps,
                   [&](std::uint32_t, const Region& region, std::uint32_t strong, std::uint32_t edges) {
                     for (std::uint32_t linked = edges & ~strong; linked != 0; linked &= linked - 1) {
                       atomicAdd(d_sm + region.at + __ffs(static_cast<int>(linked)) - 1, 1u);
                     }
                   });
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kThreads)
    calc_prob(const std::uint32_t* d_sm, std::size_t pixels, int pairs, std::uint8_t* d_prob) {
  const std::size_t first = 4 * (static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x);
  if (first + 4 <= pixels) {
    const uint4 sm = *reinterpret_cast<const uint4*>(d_sm + first);
    const auto prob = [pairs](unsigned value) {
      return static_cast<unsigned char>(probability(static_cast<int>(value), pairs));
    };
    *reinterpret_cast<uchar4*>(d_prob + first) = make_uchar4(prob(sm.x), prob(sm.y), prob(sm.z), prob(sm.w));
    return;
  }
  for (std::size_t i = first; i < pixels; ++i) {
    d_prob[i] = static_cast<std::uint8_t>(probability(static_cast<int>(d_sm[i]), pairs));
  }
}

// A sum over the thread block, as Algorithm 4 has it: by shuffles in each warp, then by atomics on a word of
// device memory, which is zero at first. All threads get the sum.
__device__ __forceinline__ std::uint32_t block_sum(std::uint32_t value, std::uint32_t* d_sum) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(kAllLanes, value, distance);
  ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device> sum(*d_sum);
  if ((threadIdx.x & 31) == 0) sum.fetch_add(value, ::cuda::memory_order_relaxed);
  __syncthreads();
  return sum.load(::cuda::memory_order_relaxed);
}

__device__ std::uint32_t count_equal(const RegionBytes& bytes, int x) {
  std::uint32_t count = 0;
#pragma unroll
  for (int p = 0; p < kWordPixels; ++p) count += bytes[p] == x;
  return count;
}

// Algorithm 4. blockIdx.x is x - 1, where x is the level; blockIdx.y is the sub-image.
__global__ void __launch_bounds__(kMaxThreads)
    calc_pf_histo(const __grid_constant__ WordGrid grid, const std::uint8_t* d_level,
                  const std::uint8_t* d_prob, LevelSums* d_sums, LevelDistribution* d_distribution) {
  const int x = static_cast<int>(blockIdx.x) + 1;
  const SubWords sub = sub_words(grid, static_cast<int>(blockIdx.y));
  LevelSums& sums = d_sums[blockIdx.y];
  LevelDistribution& distribution = d_distribution[blockIdx.y];
  std::uint32_t prob_sum = 0, level_sum = 0;
  RegionBytes probs{};
  for (std::uint32_t i = threadIdx.x; i < sub.count; i += blockDim.x) {
    const Region region = region_at(grid, sub.first + i);
    // Step 2. A pixel outside of the picture has probability 0, less than any x.
    probs = read_region(d_prob, region);
    std::uint32_t at_least = 0;
#pragma unroll
    for (int p = 0; p < kWordPixels; ++p) at_least += probs[p] >= x;
    prob_sum += at_least;
    // Step 3.
    if (at_least == 0) continue;
    const RegionBytes levels = read_region(d_level, region);
#pragma unroll
    for (int p = 0; p < kWordPixels; ++p) level_sum += levels[p] == x && probs[p] >= x;
  }
  // Steps 4 and 5.
  const std::uint32_t total_prob = block_sum(prob_sum, &sums.prob[x]);
  const std::uint32_t total_level = block_sum(level_sum, &sums.with_level[x]);
  if (threadIdx.x == 0) {
    distribution.with_level[x] =
        total_prob == 0 ? 0 : static_cast<float>(total_level) / static_cast<float>(total_prob);
  }
  // Steps 6 to 8.
  if (total_level == 0) return;
  std::uint32_t histogram_sum = 0;
  if (sub.count <= blockDim.x) {
    histogram_sum = count_equal(probs, x);
  } else {  // more regions than a block has threads, which the paper rules out
    for (std::uint32_t i = threadIdx.x; i < sub.count; i += blockDim.x)
      histogram_sum += count_equal(read_region(d_prob, region_at(grid, sub.first + i)), x);
  }
  const std::uint32_t total_histogram = block_sum(histogram_sum, &sums.histogram[x]);
  if (threadIdx.x == 0) distribution.histogram[x] = total_histogram;
}

// Algorithm 5: each warp takes a sub-image. The source of thresholds that it does not find is `none`.
__global__ void __launch_bounds__(kThreads)
    search_thresholds(int sub_images, const __grid_constant__ CannyParams params,
                      const LevelDistribution* d_distribution, Thresholds* d_thresholds) {
  const int sub_image = static_cast<int>(blockIdx.x * (kThreads / 32) + threadIdx.x / 32);
  if (sub_image >= sub_images) return;
  Thresholds found{params.fixed_low, params.fixed_high, ThresholdSource::fixed, 0};
  if (!params.fixed) found = voted_own(d_distribution[sub_image], highest_candidate(params.candidates));
  if ((threadIdx.x & 31) == 0) d_thresholds[sub_image] = found;
}

// The fallback is ours: the counts of the whole picture, if a sub-image needs them, and thresholds from them.
__global__ void __launch_bounds__(kThreads)
    pool_counts(const std::uint8_t* d_level, const std::uint8_t* d_prob, std::size_t pixels, int highest,
                int sub_images, const Thresholds* d_thresholds, LevelCounts* d_pooled) {
  __shared__ std::int32_t s_with_level[kTopLevel + 1], s_histogram[kTopLevel + 1];
  bool needed = false;
  for (int s = static_cast<int>(threadIdx.x); s < sub_images; s += kThreads)
    needed = needed || d_thresholds[s].source != ThresholdSource::own;
  for (int x = static_cast<int>(threadIdx.x); x <= kTopLevel; x += kThreads)
    s_with_level[x] = s_histogram[x] = 0;
  if (__syncthreads_or(needed) == 0) return;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < pixels;
       i += stride) {
    const int level = d_level[i], prob = d_prob[i];
    if (counts_in_level(level, prob, highest)) atomicAdd(&s_with_level[level], 1);
    if (counts_in_histogram(prob, highest)) atomicAdd(&s_histogram[prob], 1);
  }
  __syncthreads();
  for (int x = static_cast<int>(threadIdx.x); x <= kTopLevel; x += kThreads) {
    if (s_with_level[x] != 0) atomicAdd(&d_pooled->with_level[x], s_with_level[x]);
    if (s_histogram[x] != 0) atomicAdd(&d_pooled->histogram[x], s_histogram[x]);
  }
}

__global__ void __launch_bounds__(kThreads)
    fall_back(int sub_images, int highest, const LevelCounts* d_pooled, Thresholds* d_thresholds) {
  const int sub_image = static_cast<int>(blockIdx.x * (kThreads / 32) + threadIdx.x / 32);
  if (sub_image >= sub_images || d_thresholds[sub_image].source == ThresholdSource::own) return;
  const Thresholds found = voted_fallback(*d_pooled, highest);
  __syncwarp();
  if ((threadIdx.x & 31) == 0) d_thresholds[sub_image] = found;
}

// Steps 4 and 5 of Algorithm 6: a structure of 32 bytes where it is aligned.
__device__ void write_edges(std::uint8_t* d_edges, int pixels, std::uint32_t edges) {
  if (pixels == kWordPixels && reinterpret_cast<std::uintptr_t>(d_edges) % sizeof(uint4) == 0) {
    std::uint32_t word[kWordPixels / 4];
#pragma unroll
    for (int w = 0; w < kWordPixels / 4; ++w) {
      word[w] = 0;
#pragma unroll
      for (int p = 0; p < 4; ++p) word[w] |= (edges >> (4 * w + p) & 1u) * (std::uint32_t{kEdge} << (8 * p));
    }
    reinterpret_cast<uint4*>(d_edges)[0] = make_uint4(word[0], word[1], word[2], word[3]);
    reinterpret_cast<uint4*>(d_edges)[1] = make_uint4(word[4], word[5], word[6], word[7]);
    return;
  }
  for (int p = 0; p < pixels; ++p) d_edges[p] = (edges >> p & 1u) != 0 ? kEdge : 0;
}

__global__ void __launch_bounds__(kMaxThreads)
    hysteresis(const __grid_constant__ WordGrid grid, const std::uint8_t* d_level,
               const Thresholds* d_thresholds, std::uint32_t* d_maps,
               const __grid_constant__ Plane<std::uint8_t> plane) {
  for (int s = static_cast<int>(blockIdx.x); s < grid.layout.count; s += static_cast<int>(gridDim.x)) {
    const SubWords sub = sub_words(grid, s);
    const PassMaps maps = block_maps(grid, sub.count, d_maps);
    link_sub_image(grid, sub, d_level, d_thresholds[s], maps,
                   [&](std::uint32_t i, const Region& region, std::uint32_t, std::uint32_t edges) {
                     const WordPosition at = word_position(grid, sub.first + i);
                     write_edges(plane.row(at.y) + at.x, region.pixels, edges);
                   });
    __syncthreads();
  }
}

unsigned region_threads(const WordGrid& grid) {
  return std::min<unsigned>(kMaxThreads, (grid.most_words() + 31) / 32 * 32);
}

template <class Kernel>
std::size_t allow_shared(Kernel kernel, const WordGrid& grid, const PassMemory& memory) {
  if (!memory.shared) return 0;
  allow_shared_memory(kernel);
  return pass_map_bytes(grid);
}

// The thread blocks of kernels in which a warp takes a sub-image.
unsigned search_blocks(const WordGrid& grid) {
  return static_cast<unsigned>((grid.layout.count * 32 + kThreads - 1) / kThreads);
}

unsigned block_count(int work, const PassMemory& memory) {
  return static_cast<unsigned>(memory.shared ? work : std::min(work, memory.blocks));
}

}  // namespace

std::size_t pass_map_bytes(const WordGrid& grid) {
  return 3 * sizeof(std::uint32_t) * static_cast<std::size_t>(grid.most_words());
}

void launch_published_sm(const WordGrid& grid, const CandidateSet& set, const PublishedArrays& arrays,
                         const PassMemory& memory, cudaStream_t stream) {
  const std::size_t pixels = static_cast<std::size_t>(grid.layout.width) * grid.layout.height;
  check_cuda(cudaMemsetAsync(arrays.sm, 0, pixels * sizeof *arrays.sm, stream), "clearing device memory");
  const std::size_t bytes = allow_shared(calc_sm, grid, memory);
  const unsigned blocks = block_count(pair_count(set) * grid.layout.count, memory);
  calc_sm<<<blocks, region_threads(grid), bytes, stream>>>(grid, set, arrays.level, arrays.sm,
                                                           memory.shared ? nullptr : arrays.maps);
  check_launch("calc_sm");
}

void launch_published_prob(std::size_t pixels, const CandidateSet& set, const PublishedArrays& arrays,
                           cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((pixels + 4 * kThreads - 1) / (4 * kThreads));
  calc_prob<<<blocks, kThreads, 0, stream>>>(arrays.sm, pixels, pair_count(set), arrays.prob);
  check_launch("calc_prob");
}

void launch_published_counts(const WordGrid& grid, const CandidateSet& set, const PublishedArrays& arrays,
                             cudaStream_t stream) {
  const auto sub_images = static_cast<std::size_t>(grid.layout.count);
  check_cuda(cudaMemsetAsync(arrays.sums, 0, sub_images * sizeof *arrays.sums, stream), "clearing sums");
  check_cuda(cudaMemsetAsync(arrays.distribution, 0, sub_images * sizeof *arrays.distribution, stream),
             "clearing distributions");
  const dim3 blocks(static_cast<unsigned>(highest_candidate(set)), static_cast<unsigned>(grid.layout.count));
  calc_pf_histo<<<blocks, region_threads(grid), 0, stream>>>(grid, arrays.level, arrays.prob, arrays.sums,
                                                             arrays.distribution);
  check_launch("calc_pf_histo");
}

void launch_published_search(const WordGrid& grid, const CannyParams& params, const PublishedArrays& arrays,
                             cudaStream_t stream) {
  search_thresholds<<<search_blocks(grid), kThreads, 0, stream>>>(grid.layout.count, params,
                                                                  arrays.distribution, arrays.thresholds);
  check_launch("search_thresholds");
}

void launch_published_fallback(const WordGrid& grid, const CandidateSet& set, const PublishedArrays& arrays,
                               cudaStream_t stream) {
  constexpr std::size_t kPixelsOfBlock = 16 * kThreads, kMaxBlocks = 1024;
  const std::size_t pixels = static_cast<std::size_t>(grid.layout.width) * grid.layout.height;
  const int highest = highest_candidate(set);
  check_cuda(cudaMemsetAsync(arrays.pooled, 0, sizeof *arrays.pooled, stream), "clearing pooled counts");
  const auto blocks =
      static_cast<unsigned>(std::min((pixels + kPixelsOfBlock - 1) / kPixelsOfBlock, kMaxBlocks));
  pool_counts<<<blocks, kThreads, 0, stream>>>(arrays.level, arrays.prob, pixels, highest, grid.layout.count,
                                               arrays.thresholds, arrays.pooled);
  check_launch("pool_counts");
  fall_back<<<search_blocks(grid), kThreads, 0, stream>>>(grid.layout.count, highest, arrays.pooled,
                                                          arrays.thresholds);
  check_launch("fall_back");
}

void launch_published_hysteresis(const WordGrid& grid, const PublishedArrays& arrays,
                                 const PassMemory& memory, const Plane<std::uint8_t>& edges,
                                 cudaStream_t stream) {
  const std::size_t bytes = allow_shared(hysteresis, grid, memory);
  hysteresis<<<block_count(grid.layout.count, memory), region_threads(grid), bytes, stream>>>(
      grid, arrays.level, arrays.thresholds, memory.shared ? nullptr : arrays.maps, edges);
  check_launch("hysteresis");
}

}  // namespace cu264::vision::cuda
