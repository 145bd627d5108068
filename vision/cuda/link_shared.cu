// Step 4 with labels in shared memory. A thread takes one word of the sub-image, or up to four where the
// sub-image has more words than a block has threads.
#include <algorithm>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "vision/cuda/canny_launches.h"
#include "vision/cuda/link.cuh"
#include "vision/cuda/run_list.cuh"

namespace cu264::vision::cuda {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxThreadWords = 4;
constexpr std::size_t kStaticBytes = 1024;  // at least the static shared memory of the kernels

// With one word for each thread 32 registers are enough. Where a multiprocessor takes 2048 threads, its
// shared memory has room for two such blocks; with more words for each thread it has not.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10)
constexpr int kBlocksOfOneWord = 2;
#else
constexpr int kBlocksOfOneWord = 1;
#endif

template <int kThreadWords>
__global__ void __launch_bounds__(kMaxThreads, kThreadWords == 1 ? kBlocksOfOneWord : 1)
    link_shared(const __grid_constant__ WordGrid grid, const __grid_constant__ CandidateSet set,
                const __grid_constant__ LinkWork work) {
  extern __shared__ std::uint32_t s_memory[];
  __shared__ std::uint8_t s_rank[kTopLevel + 1];
  __shared__ unsigned s_listed;
  const SubWords sub = sub_words(grid, static_cast<int>(blockIdx.x));
  const int part = static_cast<int>(blockIdx.y), picture = static_cast<int>(blockIdx.z);
  const int pictures = static_cast<int>(gridDim.z);
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += static_cast<int>(blockDim.x))
    s_rank[v] = set.rank[v];
  if (threadIdx.x == 0) s_listed = 0;
  const SharedMap map(s_memory, &s_listed, sub.count);
  const std::uint32_t* const d_levels = work.levels + plane_words(grid, picture, kLevelPlanes) + sub.first;
  SumBits sums[kThreadWords] = {};
  __syncthreads();

  for (int low = part; low + 1 < set.count; low += work.parts) {
#pragma unroll
    for (int k = 0; k < kThreadWords; ++k) {
      const std::uint32_t index = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
      LevelBits levels = {};
      if (index < sub.count) levels.load(d_levels + index, grid.words());
      map.add(index, index < sub.count, levels.greater(set.level[low]), RunStrength{levels, s_rank, low});
    }
    __syncthreads();
    map.label(grid.row_words());
#pragma unroll
    for (int k = 0; k < kThreadWords; ++k) {
      const std::uint32_t index = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
      if (index < sub.count) add_strengths(map.forest(), index, map.word(index), sums[k]);
    }
    __syncthreads();
  }

  std::uint32_t* const d_sums =
      work.sums + plane_words(grid, part * pictures + picture, work.sum_planes) + sub.first;
#pragma unroll
  for (int k = 0; k < kThreadWords; ++k) {
    const std::uint32_t index = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
    if (index < sub.count) sums[k].store(d_sums + index, grid.words(), work.sum_planes);
  }
}

template <int kThreadWords>
void launch(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work, int threads,
            std::size_t bytes, cudaStream_t stream) {
  allow_shared_memory(link_shared<kThreadWords>);
  const dim3 blocks(static_cast<unsigned>(grid.layout.count), static_cast<unsigned>(work.parts),
                    static_cast<unsigned>(pictures));
  link_shared<kThreadWords><<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(grid, set, work);
  check_launch("link_shared");
}

}  // namespace

int sum_planes(const CandidateSet& set, int parts) {
  int most = 0;
  for (int part = 0; part < parts; ++part) {
    int sum = 0;
    for (int low = part; low + 1 < set.count; low += parts) sum += set.count - (low + 1);
    most = std::max(most, sum);
  }
  int planes = 1;
  while (most >> planes != 0) ++planes;
  return planes;
}

std::size_t label_shared_bytes(const WordGrid& grid) {
  return grid.most_words() * kSharedWordBytes;
}

int shared_label_threads(const WordGrid& grid, std::size_t shared_bytes) {
  const std::size_t words = grid.most_words();
  if (words > kMaxSharedWords || label_shared_bytes(grid) + kStaticBytes > shared_bytes) return 0;
  const std::size_t thread_words = (words + kMaxThreads - 1) / kMaxThreads;
  if (thread_words > kMaxThreadWords) return 0;
  const std::size_t threads = (words + thread_words - 1) / thread_words;
  return static_cast<int>((threads + 31) / 32 * 32);
}

void launch_link_shared(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        std::size_t shared_bytes, cudaStream_t stream) {
  const int threads = shared_label_threads(grid, shared_bytes);
  const std::size_t bytes = label_shared_bytes(grid);
  const unsigned thread_words =
      (grid.most_words() + static_cast<unsigned>(threads) - 1) / static_cast<unsigned>(threads);
  using Launch = decltype(&launch<1>);
  static constexpr Launch kLaunchOfWords[kMaxThreadWords] = {launch<1>, launch<2>, launch<3>, launch<4>};
  kLaunchOfWords[thread_words - 1](grid, pictures, set, work, threads, bytes, stream);
}

}  // namespace cu264::vision::cuda
