// A thread makes one sample of a small picture. Then a warp takes a block at a time, with a vector in each
// lane; the last thread block of a picture to finish writes its sums.
#include "encoder/cuda/compare_scenes.h"

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "encoder/cuda/inter/sample_words.cuh"
#include "encoder/cuda/tuned.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kShrinkThreads = 128;
constexpr int kWarps = 8, kThreads = 32 * kWarps;

__device__ unsigned sum_of_four(std::uint32_t samples, unsigned sum) {
  return __dp4a(samples, 0x01010101u, sum);
}

// The sum of eight samples of a row, whose last one is repeated.
__device__ unsigned sum_of_eight(const std::uint8_t* row, int x, int width) {
  const std::uint8_t* const at = row + x;
  if (x + core::kEighth <= width && (reinterpret_cast<std::uintptr_t>(at) & 7) == 0) {
    const uint2 samples = *reinterpret_cast<const uint2*>(at);
    return sum_of_four(samples.x, sum_of_four(samples.y, 0));
  }
  unsigned sum = 0;
  for (int i = 0; i < core::kEighth; ++i) sum += row[min(x + i, width - 1)];
  return sum;
}

__global__ void __launch_bounds__(kShrinkThreads) shrink_pictures(const __grid_constant__ SceneInput input) {
  const SceneInput::ComparedPicture& picture = input.picture[blockIdx.z];
  const int width = 2 * input.mb_width, y = static_cast<int>(blockIdx.y);
  const int x = static_cast<int>(blockIdx.x * kShrinkThreads + threadIdx.x);
  if (picture.luma == nullptr || x >= width) return;
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < core::kEighth; ++i) {
    const int row = min(core::kEighth * y + i, input.height - 1);
    sum += sum_of_eight(picture.luma + row * picture.pitch, core::kEighth * x, input.width);
  }
  picture.small[y * width + x] = static_cast<std::uint8_t>(core::eighth_sample(static_cast<int>(sum)));
}

// A block and what it is compared with. Samples beyond its width are masked.
struct LaneBlock {
  const SceneInput::ComparedPicture& picture;
  const int width, height;  // of the small picture
  const core::SmallBlock block;

  __device__ std::uint32_t four_at(const std::uint8_t* samples) const {
    const std::uint32_t four = four_samples_at(samples);
    return block.width == core::kSceneBlock ? four : four & ((1u << 8 * block.width) - 1);
  }

  __device__ unsigned least_difference(int lane) const {
    const core::SmallVectors vectors = core::vectors_of(block, width, height);
    std::uint32_t own[core::kSceneBlock];
#pragma unroll
    for (int row = 0; row < core::kSceneBlock; ++row)
      own[row] = row < block.height ? four_at(picture.small + (block.y + row) * width + block.x) : 0;
    const int across = vectors.right - vectors.left + 1, down = vectors.below - vectors.above + 1;
    unsigned least = 0xffffffffu;
    for (int i = lane; i < across * down; i += 32) {
      const int x = block.x + vectors.left + i % across, y = block.y + vectors.above + i / across;
      const std::uint8_t* const other = picture.before + y * width + x;
      std::uint32_t sum = 0;
#pragma unroll
      for (int row = 0; row < core::kSceneBlock; ++row) {
        if (row < block.height) sum = add_differences(own[row], four_at(other + row * width), sum);
      }
      least = min(least, sum);
    }
    return warp_min(least);
  }

  __device__ unsigned intra_difference(int lane) const {
    const int x = lane % core::kSceneBlock, y = lane / core::kSceneBlock;
    const bool inside = x < block.width && y < block.height;
    const int sample = inside ? picture.small[(block.y + y) * width + block.x + x] : 0;
    const int area = block.width * block.height, mean = core::block_mean(warp_sum(sample), area);
    const int activity = warp_sum(inside ? abs(sample - mean) : 0);
    return static_cast<unsigned>(core::intra_difference(activity, area));
  }
};

__global__ void __launch_bounds__(kThreads)
    compare_pictures(const __grid_constant__ SceneInput input, SceneParts* d_all_parts,
                     core::SceneSums* results) {
  const SceneInput::ComparedPicture& picture = input.picture[blockIdx.y];
  if (picture.luma == nullptr) return;
  SceneParts* const d_parts = d_all_parts + blockIdx.y;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  const int width = 2 * input.mb_width, height = 2 * input.mb_height;
  const int columns = (width + core::kSceneBlock - 1) / core::kSceneBlock,
            rows = (height + core::kSceneBlock - 1) / core::kSceneBlock;
  unsigned long long inter = 0, intra = 0;
  if (picture.before != nullptr) {
    for (int i = static_cast<int>(blockIdx.x) * kWarps + warp; i < columns * rows;
         i += static_cast<int>(gridDim.x) * kWarps) {
      const LaneBlock block{picture, width, height,
                            core::small_block(i % columns, i / columns, width, height)};
      inter += block.least_difference(lane), intra += block.intra_difference(lane);
    }
    if (lane == 0) {
      atomicAdd(&d_parts->inter, inter);
      atomicAdd(&d_parts->intra, intra);
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&d_parts->finished_blocks, 1u) != gridDim.x - 1) return;
  __threadfence();
  core::SceneSums& result = results[blockIdx.y];
  result.inter = static_cast<std::int64_t>(atomicExch(&d_parts->inter, 0ull));
  result.intra = static_cast<std::int64_t>(atomicExch(&d_parts->intra, 0ull));
  atomicExch(&d_parts->finished_blocks, 0u);
}

}  // namespace

void launch_compare_scenes(const SceneInput& input, SceneParts* d_parts, core::SceneSums* results,
                           cudaStream_t stream) {
  if (input.pictures == 0) return;
  const auto pictures = static_cast<unsigned>(input.pictures);
  const int width = 2 * input.mb_width, height = 2 * input.mb_height;
  const dim3 samples(static_cast<unsigned>((width + kShrinkThreads - 1) / kShrinkThreads),
                     static_cast<unsigned>(height), pictures);
  shrink_pictures<<<samples, kShrinkThreads, 0, stream>>>(input);
  check_launch("shrink_pictures");
  const int blocks = ((width + core::kSceneBlock - 1) / core::kSceneBlock) *
                     ((height + core::kSceneBlock - 1) / core::kSceneBlock);
  const int most = (blocks + kWarps - 1) / kWarps,
            wanted = (tuned::kMeasureBlocks + input.pictures - 1) / input.pictures;
  const dim3 grid(static_cast<unsigned>(most < wanted ? most : wanted), pictures);
  compare_pictures<<<grid, kThreads, 0, stream>>>(input, d_parts, results);
  check_launch("compare_pictures");
}

}  // namespace cu264::encoder::cuda
