// Step 8 in two forms. With labels in shared memory a thread block takes a sub-image; with labels in global
// memory a thread takes a word, and a kernel ends wherever all threads must have finished.
#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "vision/cuda/bit_planes.cuh"
#include "vision/cuda/canny_launches.h"
#include "vision/cuda/run_forest.cuh"
#include "vision/cuda/run_list.cuh"
#include "vision/thresholds.h"

namespace cu264::vision::cuda {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kThreads = 256;
using GlobalForest = RunForest<::cuda::thread_scope_device>;

__device__ __forceinline__ Thresholds thresholds_of(const CannyParams& params, const EdgeWork& work,
                                                    std::size_t sub_image) {
  if (params.fixed) return {params.fixed_low, params.fixed_high, ThresholdSource::fixed, 0};
  return work.thresholds[sub_image];
}

// The pixels that may be edges: all but those that are too weak whatever they touch.
__device__ __forceinline__ std::uint32_t edge_candidates(const LevelBits& levels,
                                                         const Thresholds& thresholds) {
  return levels.greater(thresholds.low) | levels.at_least(thresholds.high);
}

// 1 for a run that reaches high.
struct ReachesHigh {
  std::uint32_t strong;

  __device__ __forceinline__ std::uint32_t operator()(std::uint32_t run) const {
    return (run & strong) != 0 ? 1u : 0u;
  }
};

template <class Forest>
__device__ __forceinline__ std::uint32_t edges_of(const Forest& forest, std::uint32_t index,
                                                  std::uint32_t word) {
  std::uint32_t edges = 0;
  for (std::uint32_t rest = word; rest != 0;) {
    const std::uint32_t run = lowest_run(rest);
    rest &= ~run;
    if (forest.strength(node_of_start(index, lowest_bit(run))) != 0) edges |= run;
  }
  return edges;
}

// Four bits to four bytes of kEdge or 0.
__device__ __forceinline__ std::uint32_t edge_bytes(std::uint32_t bits) {
  return ((bits & 15u) * 0x00204081u & 0x01010101u) * kEdge;
}

__device__ inline void write_edges(const WordGrid& grid, const Plane<std::uint8_t>& plane,
                                   std::uint32_t word_index, std::uint32_t edges) {
  const WordPosition at = word_position(grid, word_index);
  std::uint8_t* const d_edges = plane.row(at.y) + at.x;
  const int width = grid.layout.width - at.x;
  if (width >= kWordPixels && (reinterpret_cast<std::uintptr_t>(d_edges) & 15u) == 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t bits = edges >> (16 * half);
      reinterpret_cast<uint4*>(d_edges)[half] =
          make_uint4(edge_bytes(bits), edge_bytes(bits >> 4), edge_bytes(bits >> 8), edge_bytes(bits >> 12));
    }
    return;
  }
  for (int x = 0; x < kWordPixels && x < width; ++x) d_edges[x] = (edges >> x & 1u) != 0 ? kEdge : 0;
}

__device__ LevelBits load_levels(const WordGrid& grid, const EdgeWork& work, int picture,
                                 std::uint32_t index) {
  LevelBits levels;
  levels.load(work.levels + plane_words(grid, picture, kLevelPlanes) + index, grid.words());
  return levels;
}

__global__ void __launch_bounds__(kMaxThreads)
    hysteresis_shared(const __grid_constant__ WordGrid grid, const __grid_constant__ CannyParams params,
                      const __grid_constant__ EdgeWork work) {
  extern __shared__ std::uint32_t s_memory[];
  __shared__ unsigned s_listed;
  const int sub_image = static_cast<int>(blockIdx.x), picture = static_cast<int>(blockIdx.y);
  const std::size_t entry = static_cast<std::size_t>(picture) * grid.layout.count + sub_image;
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

// The word that a thread handles. Labels count from the first word of its sub-image.
struct ThreadWord {
  std::uint32_t index;   // in the picture
  std::uint32_t within;  // in the sub-image
  int sub_image;
  std::size_t first;  // the sub-image's first word, among the words of all pictures
};

__device__ ThreadWord word_of_thread(const WordGrid& grid) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const int sub_image = index < grid.words() ? sub_image_of_word(grid, index) : 0;
  const std::uint32_t first = sub_words(grid, sub_image).first;
  return {index, index - first, sub_image, static_cast<std::size_t>(blockIdx.y) * grid.words() + first};
}

__global__ void __launch_bounds__(kThreads)
    plant_edges(const __grid_constant__ WordGrid grid, const __grid_constant__ CannyParams params,
                const __grid_constant__ EdgeWork work, const __grid_constant__ GlobalLabels labels) {
  const ThreadWord mine = word_of_thread(grid);
  if (mine.index >= grid.words()) return;
  const int picture = static_cast<int>(blockIdx.y);
  const std::size_t entry = static_cast<std::size_t>(picture) * grid.layout.count + mine.sub_image;
  const Thresholds thresholds = thresholds_of(params, work, entry);
  if (params.fixed && mine.within == 0) work.thresholds[entry] = thresholds;
  const LevelBits levels = load_levels(grid, work, picture, mine.index);
  const std::uint32_t word = edge_candidates(levels, thresholds);
  labels.maps[mine.first + mine.within] = word;
  plant_runs(GlobalForest(labels.parents + mine.first * kNodesPerWord), mine.within, word,
             ReachesHigh{levels.at_least(thresholds.high)});
}

__global__ void __launch_bounds__(kThreads)
    write_edge_maps(const __grid_constant__ WordGrid grid, const __grid_constant__ EdgeWork work,
                    const __grid_constant__ GlobalLabels labels) {
  const ThreadWord mine = word_of_thread(grid);
  if (mine.index >= grid.words()) return;
  const GlobalForest forest(labels.parents + mine.first * kNodesPerWord);
  const std::uint32_t word = labels.maps[mine.first + mine.within];
  write_edges(grid, work.edges[static_cast<int>(blockIdx.y)], mine.index,
              edges_of(forest, mine.within, word));
}

}  // namespace

void launch_hysteresis_shared(const WordGrid& grid, int pictures, const CannyParams& params,
                              const EdgeWork& work, std::size_t shared_bytes, cudaStream_t stream) {
  const int threads = shared_label_threads(grid, shared_bytes);
  const std::size_t bytes = label_shared_bytes(grid);
  allow_shared_memory(hysteresis_shared);
  const dim3 blocks(static_cast<unsigned>(grid.layout.count), static_cast<unsigned>(pictures));
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
