// Labels in global memory, for as many lows at once as there is room for, a kernel a step.
#include <algorithm>

#include "common/cuda/error_check.h"
#include "vision/cuda/components.cuh"
#include "vision/cuda/link.cuh"
#include "vision/cuda/link.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kThreads = 256;
using Forest = RunForest<::cuda::thread_scope_device>;

__device__ std::uint32_t word_of_thread() {
  return blockIdx.x * kThreads + threadIdx.x;
}
// blockIdx.y is the low's place among those labelled together, blockIdx.z the picture.
__device__ std::size_t map_offset(const WordGrid& grid, int low, int picture, int pictures) {
  return (static_cast<std::size_t>(low) * pictures + picture) * grid.words();
}

__global__ void __launch_bounds__(kThreads)
    plant_global(const __grid_constant__ WordGrid grid, const __grid_constant__ CandidateSet set,
                 const __grid_constant__ LinkWork work, const __grid_constant__ GlobalLabels labels,
                 int first_low) {
  __shared__ std::uint8_t s_rank[kTopLevel + 1];
  for (int v = static_cast<int>(threadIdx.x); v <= kTopLevel; v += kThreads) s_rank[v] = set.rank[v];
  __syncthreads();
  const std::uint32_t index = word_of_thread();
  if (index >= grid.words()) return;
  const int picture = static_cast<int>(blockIdx.z), low = first_low + static_cast<int>(blockIdx.y);
  const std::size_t map =
      map_offset(grid, static_cast<int>(blockIdx.y), picture, static_cast<int>(gridDim.z));
  LevelBits levels;
  levels.load(work.levels + plane_words(grid, picture, kLevelPlanes) + index, grid.words());
  const std::uint32_t word = levels.greater(set.level[low]);
  labels.maps[map + index] = word;
  // Nodes count from the sub-image's first, as in the joins.
  const std::uint32_t first = sub_words(grid, sub_image_of_word(grid, index)).first;
  plant_runs(Forest(labels.parents + (map + first) * kNodesPerWord), index - first, word,
             RunStrength{levels, s_rank, low});
}

enum class Step { hang, flatten, join, settle };

// A thread a node, most of which are not there: runs side by side, not one after another.
template <Step kStep>
__global__ void __launch_bounds__(kThreads)
    label_global(const __grid_constant__ WordGrid grid, const __grid_constant__ GlobalLabels labels) {
  const std::uint32_t node = word_of_thread(), index = node / kNodesPerWord;
  if (index >= grid.words()) return;
  const std::size_t map = map_offset(grid, static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z),
                                     static_cast<int>(gridDim.z));
  const std::uint32_t run = run_of_node(labels.maps[map + index], node);
  if (run == 0) return;
  const SubWords sub = sub_words(grid, sub_image_of_word(grid, index));
  const Forest forest(labels.parents + (map + sub.first) * kNodesPerWord);
  const MapView view{labels.maps + map + sub.first, sub.count, grid.row_words()};
  const std::uint32_t within = index - sub.first;
  if constexpr (kStep == Step::hang) hang_run(forest, view, within, run);
  if constexpr (kStep == Step::flatten) forest.flatten(node_of_start(within, lowest_bit(run)));
  if constexpr (kStep == Step::join) join_run(forest, view, within, run);
  if constexpr (kStep == Step::settle) forest.settle(node_of_start(within, lowest_bit(run)));
}

__global__ void __launch_bounds__(kThreads)
    sum_global(const __grid_constant__ WordGrid grid, const __grid_constant__ LinkWork work,
               const __grid_constant__ GlobalLabels labels, int lows, bool begin) {
  const std::uint32_t index = word_of_thread();
  if (index >= grid.words()) return;
  const int picture = static_cast<int>(blockIdx.z);
  std::uint32_t* const d_sums = work.sums + plane_words(grid, picture, work.sum_planes) + index;
  SumBits sums = {};
  if (!begin) sums.load(d_sums, grid.words(), work.sum_planes);
  const std::uint32_t first = sub_words(grid, sub_image_of_word(grid, index)).first;
  for (int low = 0; low < lows; ++low) {
    const std::size_t map = map_offset(grid, low, picture, static_cast<int>(gridDim.z));
    add_strengths(Forest(labels.parents + (map + first) * kNodesPerWord), index - first,
                  labels.maps[map + index], sums);
  }
  sums.store(d_sums, grid.words(), work.sum_planes);
}

}  // namespace

void launch_labels_global(const WordGrid& grid, int lows, int pictures, const GlobalLabels& labels,
                          cudaStream_t stream) {
  const dim3 blocks((grid.words() * kNodesPerWord + kThreads - 1) / kThreads, static_cast<unsigned>(lows),
                    static_cast<unsigned>(pictures));
  label_global<Step::hang><<<blocks, kThreads, 0, stream>>>(grid, labels);
  check_launch("label_global (hang)");
  label_global<Step::flatten><<<blocks, kThreads, 0, stream>>>(grid, labels);
  check_launch("label_global (flatten)");
  label_global<Step::join><<<blocks, kThreads, 0, stream>>>(grid, labels);
  check_launch("label_global (join)");
  label_global<Step::settle><<<blocks, kThreads, 0, stream>>>(grid, labels);
  check_launch("label_global (settle)");
}

void launch_link_global(const WordGrid& grid, int pictures, const CandidateSet& set, const LinkWork& work,
                        const GlobalLabels& labels, cudaStream_t stream) {
  const unsigned blocks = (grid.words() + kThreads - 1) / kThreads, depth = static_cast<unsigned>(pictures);
  for (int first = 0; first + 1 < set.count; first += labels.lows) {
    const int lows = std::min(labels.lows, set.count - 1 - first);
    const dim3 all(blocks, static_cast<unsigned>(lows), depth);
    plant_global<<<all, kThreads, 0, stream>>>(grid, set, work, labels, first);
    check_launch("plant_global");
    launch_labels_global(grid, lows, pictures, labels, stream);
    sum_global<<<dim3(blocks, 1, depth), kThreads, 0, stream>>>(grid, work, labels, lows, first == 0);
    check_launch("sum_global");
  }
}

}  // namespace cu264::vision::cuda
