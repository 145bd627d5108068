// Labels in shared memory: a word a thread where threads are enough, up to four otherwise.
#include <algorithm>

#include "vision/cuda/components.cuh"
#include "vision/cuda/launch_check.h"
#include "vision/cuda/link.cuh"
#include "vision/cuda/link.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostThreadWords = 4;
constexpr std::size_t kWordBytes = sizeof(std::uint32_t) * (1 + kNodesPerWord);
constexpr std::size_t kStaticBytes = 1024;  // not less than kernels declare themselves

template <int kThreadWords>
__global__ void __launch_bounds__(kMostThreads, 1)
    link_shared(const __grid_constant__ WordGrid grid, const __grid_constant__ CandidateSet set,
                const __grid_constant__ LinkWork work) {
  extern __shared__ std::uint32_t s_words[];
  __shared__ std::uint8_t s_rank[kTopLevel + 1];
  const SubWords sub = sub_words(grid, static_cast<int>(blockIdx.x));
  const int part = static_cast<int>(blockIdx.y), picture = static_cast<int>(blockIdx.z);
  const int pictures = static_cast<int>(gridDim.z);
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += static_cast<int>(blockDim.x)) s_rank[v] = set.rank[v];
  const RunForest<::cuda::thread_scope_block> forest(s_words + sub.count);
  const std::uint32_t* const d_levels = work.levels + plane_words(grid, picture, kLevelPlanes) + sub.first;
  SumBits sums[kThreadWords] = {};
  __syncthreads();

  for (int low = part; low + 1 < set.count; low += work.parts) {
#pragma unroll
    for (int k = 0; k < kThreadWords; ++k) {
      const std::uint32_t index = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
      if (index >= sub.count) continue;
      LevelBits levels;
      levels.load(d_levels + index, grid.words());
      const std::uint32_t word = levels.greater(set.level[low]);
      s_words[index] = word;
      plant_runs(forest, index, word, RunStrength{levels, s_rank, low});
    }
    __syncthreads();
    for (std::uint32_t index = threadIdx.x; index < sub.count; index += blockDim.x) {
      join_runs(forest, s_words, index, grid.row_words());
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kThreadWords; ++k) {
      const std::uint32_t index = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
      if (index < sub.count) add_strengths(forest, index, s_words[index], sums[k]);
    }
    __syncthreads();
  }

  std::uint32_t* const d_sums =
      work.sums + plane_words(grid, part * pictures + picture, kSumPlanes) + sub.first;
#pragma unroll
  for (int k = 0; k < kThreadWords; ++k) {
    const std::uint32_t index = threadIdx.x + static_cast<std::uint32_t>(k) * blockDim.x;
    if (index < sub.count) sums[k].store(d_sums + index, grid.words());
  }
}

template <int kThreadWords>
void launch(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work, int threads,
            std::size_t bytes, cudaStream_t stream) {
  check(cudaFuncSetAttribute(link_shared<kThreadWords>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "shared memory for link_shared");
  const dim3 blocks(static_cast<unsigned>(grid.all.count), static_cast<unsigned>(work.parts),
                    static_cast<unsigned>(pictures));
  link_shared<kThreadWords><<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(grid, set, work);
  check_launch("link_shared");
}

}  // namespace

std::size_t label_shared_bytes(const WordGrid& grid) {
  return grid.most_words() * kWordBytes;
}

int shared_label_threads(const WordGrid& grid, std::size_t shared_bytes) {
  const std::size_t words = grid.most_words();
  if (label_shared_bytes(grid) + kStaticBytes > shared_bytes) return 0;
  const std::size_t thread_words = (words + kMostThreads - 1) / kMostThreads;
  if (thread_words > kMostThreadWords) return 0;
  const std::size_t threads = (words + thread_words - 1) / thread_words;
  return static_cast<int>((threads + 31) / 32 * 32);
}

void launch_link_shared(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        std::size_t shared_bytes, cudaStream_t stream) {
  const int threads = shared_label_threads(grid, shared_bytes);
  const std::size_t bytes = label_shared_bytes(grid);
  switch ((grid.most_words() + static_cast<unsigned>(threads) - 1) / static_cast<unsigned>(threads)) {
    case 1: launch<1>(grid, pictures, set, work, threads, bytes, stream); break;
    case 2: launch<2>(grid, pictures, set, work, threads, bytes, stream); break;
    case 3: launch<3>(grid, pictures, set, work, threads, bytes, stream); break;
    default: launch<4>(grid, pictures, set, work, threads, bytes, stream); break;
  }
}

}  // namespace cu264::vision::cuda
