// A thread block a sub-image with its labels in shared memory; or a thread a word with labels in global
// memory, in kernels that each end where all must have finished.
#include "common/cuda/error_check.h"
#include "vision/cuda/hysteresis.cuh"
#include "vision/cuda/run_list.cuh"

namespace cu264::vision::cuda {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kThreads = 256;
using GlobalForest = RunForest<::cuda::thread_scope_device>;

__device__ LevelBits load_levels(const WordGrid& grid, const EdgeWork& work, int picture,
                                 std::uint32_t index) {
  LevelBits levels;
  levels.load(work.levels + plane_words(grid, picture, kLevelPlanes) + index, grid.words());
  return levels;
}

__global__ void __launch_bounds__(kMostThreads)
    hysteresis_shared(const __grid_constant__ WordGrid grid, const __grid_constant__ CannyParams params,
                      const __grid_constant__ EdgeWork work) {
  extern __shared__ std::uint32_t s_memory[];
  __shared__ unsigned s_listed;
  const int sub_image = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const std::size_t entry = static_cast<std::size_t>(picture) * grid.all.count + sub_image;
  const SubWords sub = sub_words(grid, sub_image);
  const SharedMap map(s_memory, &s_listed, sub.count);
  const Thresholds thresholds = thresholds_of(params, work, entry);
  if (threadIdx.x == 0) {
    s_listed = 0;
    if (params.fixed) work.thresholds[entry] = thresholds;
  }
  __syncthreads();
  for (std::uint32_t first = 0; first < sub.count; first += blockDim.x) {
    const std::uint32_t index = first + threadIdx.x;
    LevelBits levels = {};
    if (index < sub.count) levels = load_levels(grid, work, picture, sub.first + index);
    const std::uint32_t word = index < sub.count ? edge_candidates(levels, thresholds) : 0;
    map.add(index, index < sub.count, word, ReachesHigh{levels.at_least(thresholds.high)});
  }
  __syncthreads();
  map.label(grid.row_words());
  const Plane<std::uint8_t> plane = work.edges[picture];
  for (std::uint32_t index = threadIdx.x; index < sub.count; index += blockDim.x) {
    write_edges(grid, plane, sub.first + index, edges_of(map.forest(), index, map.word(index)));
  }
}

// A thread's word, and what of the labels is its sub-image's.
struct Place {
  std::uint32_t index;   // in the picture
  std::uint32_t within;  // in the sub-image
  int sub_image;
  std::size_t first;  // of the sub-image, among all pictures' words
};

__device__ Place place_of_thread(const WordGrid& grid) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const int sub_image = index < grid.words() ? sub_image_of_word(grid, index) : 0;
  const std::uint32_t first = sub_words(grid, sub_image).first;
  return {index, index - first, sub_image, static_cast<std::size_t>(blockIdx.y) * grid.words() + first};
}

__global__ void __launch_bounds__(kThreads)
    plant_edges(const __grid_constant__ WordGrid grid, const __grid_constant__ CannyParams params,
                const __grid_constant__ EdgeWork work, const __grid_constant__ GlobalLabels labels) {
  const Place place = place_of_thread(grid);
  if (place.index >= grid.words()) return;
  const int picture = static_cast<int>(blockIdx.y);
  const std::size_t entry = static_cast<std::size_t>(picture) * grid.all.count + place.sub_image;
  const Thresholds thresholds = thresholds_of(params, work, entry);
  if (params.fixed && place.within == 0) work.thresholds[entry] = thresholds;
  const LevelBits levels = load_levels(grid, work, picture, place.index);
  const std::uint32_t word = edge_candidates(levels, thresholds);
  labels.maps[place.first + place.within] = word;
  plant_runs(GlobalForest(labels.parents + place.first * kNodesPerWord), place.within, word,
             ReachesHigh{levels.at_least(thresholds.high)});
}

__global__ void __launch_bounds__(kThreads)
    write_edge_maps(const __grid_constant__ WordGrid grid, const __grid_constant__ EdgeWork work,
                    const __grid_constant__ GlobalLabels labels) {
  const Place place = place_of_thread(grid);
  if (place.index >= grid.words()) return;
  const GlobalForest forest(labels.parents + place.first * kNodesPerWord);
  const std::uint32_t word = labels.maps[place.first + place.within];
  write_edges(grid, work.edges[static_cast<int>(blockIdx.y)], place.index,
              edges_of(forest, place.within, word));
}

}  // namespace

void launch_hysteresis_shared(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, std::size_t shared_bytes, cudaStream_t stream) {
  const int threads = shared_label_threads(grid, shared_bytes);
  const std::size_t bytes = label_shared_bytes(grid);
  check_cuda(cudaFuncSetAttribute(hysteresis_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             "shared memory for hysteresis_shared");
  const dim3 blocks(static_cast<unsigned>(grid.all.count), static_cast<unsigned>(pictures));
  hysteresis_shared<<<blocks, static_cast<unsigned>(threads), bytes, stream>>>(grid, params, work);
  check_launch("hysteresis_shared");
}

void launch_hysteresis_global(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, const GlobalLabels& labels, cudaStream_t stream) {
  const dim3 blocks((grid.words() + kThreads - 1) / kThreads, static_cast<unsigned>(pictures));
  plant_edges<<<blocks, kThreads, 0, stream>>>(grid, params, work, labels);
  check_launch("plant_edges");
  launch_labels_global(grid, 1, pictures, labels, stream);
  write_edge_maps<<<blocks, kThreads, 0, stream>>>(grid, work, labels);
  check_launch("write_edge_maps");
}

}  // namespace cu264::vision::cuda
