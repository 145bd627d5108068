// Three kernels. In the first a warp sums the samples and edges of two macroblocks, a row in each lane; where
// steps are counted it takes one macroblock, eight samples of a row in each lane. In the second a thread
// block for each picture computes the mean weight. In the third a thread for each macroblock computes its
// offset; if offsets depend on the previous picture, a thread takes one position in all pictures of the
// batch, one after another.
#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/mb_qp_delta.h"
#include "encoder/adaptive_quantisation/device_qp_offsets.h"
#include "vision/cuda/half_size_steps.cuh"
#include "vision/gaussian.h"

namespace cu264::encoder::cuda {
namespace {

using vision::clamped;

constexpr int kThreads = 256;
constexpr int kLaneSamples = 8;

// Samples left .. left + 7 of a row. Samples outside the picture repeat the nearest one inside.
struct RowSamples {
  int at[kLaneSamples];
};

__device__ RowSamples load_row(const std::uint8_t* d_row, int left, int width) {
  RowSamples row;
  if (left + kLaneSamples <= width && (reinterpret_cast<std::uintptr_t>(d_row + left) & 7u) == 0) {
    const uint2 eight = *reinterpret_cast<const uint2*>(d_row + left);
#pragma unroll
    for (int i = 0; i < kLaneSamples; ++i) {
      row.at[i] = static_cast<int>((i < 4 ? eight.x : eight.y) >> (8 * (i & 3)) & 255u);
    }
    return row;
  }
#pragma unroll
  for (int i = 0; i < kLaneSamples; ++i) row.at[i] = d_row[clamped(left + i, width)];
  return row;
}

// Sums with the steps of the half-size picture as edges.
__global__ void __launch_bounds__(kThreads)
    step_sums_of(const __grid_constant__ PicturePlanes luma, int width, int height, int mb_width,
                 int macroblocks, MacroblockSums* d_sums) {
  __shared__ vision::cuda::HalfSamples s_half[kThreads / 32];
  const int mb = static_cast<int>(blockIdx.x * (kThreads / 32) + threadIdx.x / 32);
  if (mb >= macroblocks) return;
  const int picture = static_cast<int>(blockIdx.y), lane = static_cast<int>(threadIdx.x) & 31;
  const int y = mb / mb_width * kMacroblockSide + lane / 2;
  const int left = mb % mb_width * kMacroblockSide + lane % 2 * kLaneSamples;
  const vision::cuda::Plane<const std::uint8_t> plane = luma[picture];
  const RowSamples row = load_row(plane.row(clamped(y, height)), left, width);
  MacroblockSums sums;
#pragma unroll
  for (const int sample : row.at) add_sample(sums, sample, false);
  sums.edges =
      vision::cuda::steps_of_lane(plane, row.at, mb % mb_width, mb / mb_width, mb_width,
                                  macroblocks / mb_width, width, height, s_half[threadIdx.x / 32], lane);
  sums = {warp_sum(sums.edges), warp_sum(sums.sum), warp_sum(sums.squares)};
  if (lane == 0) d_sums[static_cast<std::size_t>(picture) * macroblocks + mb] = sums;
}

// Samples left .. left + 3 of a row as bytes; those outside the picture repeat the nearest one inside.
__device__ std::uint32_t four_at(const std::uint8_t* d_row, int left, int width) {
  std::uint32_t four = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) four |= std::uint32_t{d_row[clamped(left + i, width)]} << (8 * i);
  return four;
}

__device__ uint4 load_macroblock_row(const std::uint8_t* d_row, int left, int width) {
  const std::uint8_t* const at = d_row + left;
  if (left + kMacroblockSide <= width && (reinterpret_cast<std::uintptr_t>(at) & 15u) == 0)
    return *reinterpret_cast<const uint4*>(at);
  return {four_at(d_row, left, width), four_at(d_row, left + 4, width), four_at(d_row, left + 8, width),
          four_at(d_row, left + 12, width)};
}

// The number of edges in a macroblock's row of an edge map. Outside the picture there are none.
__device__ std::uint32_t edges_of_row(const std::uint8_t* d_row, int left, int width) {
  const std::uint8_t* const at = d_row + left;
  std::uint32_t edges = 0;
  if (left + kMacroblockSide <= width && (reinterpret_cast<std::uintptr_t>(at) & 15u) == 0) {
    const uint4 row = *reinterpret_cast<const uint4*>(at);  // samples are 0 or 255
    for (const std::uint32_t four : {row.x, row.y, row.z, row.w})
      edges += static_cast<std::uint32_t>(__popc(static_cast<int>(four & 0x01010101u)));
    return edges;
  }
  for (int x = left; x < width && x < left + kMacroblockSide; ++x) edges += d_row[x] != 0;
  return edges;
}

// Sums with the edges of edge maps (kEdges), or without edges.
template <bool kEdges>
__global__ void __launch_bounds__(kThreads)
    macroblock_sums_of(const __grid_constant__ PicturePlanes luma, const __grid_constant__ EdgePlanes edges,
                       int width, int height, int mb_width, int macroblocks, MacroblockSums* d_sums) {
  const int own = static_cast<int>(blockIdx.x * (kThreads / kMacroblockSide) + threadIdx.x / kMacroblockSide);
  const int mb = min(own, macroblocks - 1), lane = static_cast<int>(threadIdx.x) % kMacroblockSide;
  const int picture = static_cast<int>(blockIdx.y), y = mb / mb_width * kMacroblockSide + lane;
  const int left = mb % mb_width * kMacroblockSide;
  const vision::cuda::Plane<const std::uint8_t> plane = luma[picture];
  const uint4 row = load_macroblock_row(plane.row(clamped(y, height)), left, width);
  std::uint32_t sum = 0, squares = 0, marks = 0;
  for (const std::uint32_t four : {row.x, row.y, row.z, row.w}) {
    sum = __dp4a(four, 0x01010101u, sum);
    squares = __dp4a(four, four, squares);
  }
  if constexpr (kEdges) {
    if (y < height) marks = edges_of_row(edges[picture].row(y), left, width);
  }
#pragma unroll
  for (int step = 1; step < kMacroblockSide; step *= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, step);
    squares += __shfl_xor_sync(kAllLanes, squares, step);
    if constexpr (kEdges) marks += __shfl_xor_sync(kAllLanes, marks, step);
  }
  if (lane == 0 && own == mb) {
    d_sums[static_cast<std::size_t>(picture) * macroblocks + mb] = {
        static_cast<int>(marks), static_cast<int>(sum), static_cast<int>(squares)};
  }
}

__global__ void __launch_bounds__(1024)
    mean_weights(AqMode mode, int macroblocks, const MacroblockSums* d_sums, std::int32_t* d_means) {
  __shared__ long long s_sum;
  if (threadIdx.x == 0) s_sum = 0;
  __syncthreads();
  const MacroblockSums* const d_picture = d_sums + static_cast<std::size_t>(blockIdx.x) * macroblocks;
  long long sum = 0;
  for (int mb = static_cast<int>(threadIdx.x); mb < macroblocks; mb += static_cast<int>(blockDim.x)) {
    sum += macroblock_weight(mode, d_picture[mb]);
  }
  sum = warp_sum(sum);
  // Unsigned addition gives the right result for negative sums too.
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&s_sum), static_cast<unsigned long long>(sum));
  }
  __syncthreads();
  if (threadIdx.x == 0) d_means[blockIdx.x] = mean_weight(s_sum, macroblocks);
}

__global__ void __launch_bounds__(kThreads)
    settle_offsets(const __grid_constant__ AqParams params, int mb_width, int mb_height, int pictures,
                   const __grid_constant__ QpOffsetMemory work, const core::PictureParams* picture_params) {
  // blockIdx.y takes its share of the pictures, which is all of them if offsets are remembered.
  const int first = static_cast<int>(blockIdx.y) * pictures / static_cast<int>(gridDim.y);
  const int end = static_cast<int>(blockIdx.y + 1) * pictures / static_cast<int>(gridDim.y);
  const int mb = static_cast<int>(blockIdx.x * kThreads + threadIdx.x), macroblocks = mb_width * mb_height;
  if (mb >= macroblocks) return;
  std::int8_t* d_previous = work.previous + mb;  // of the picture's stream
  int previous = params.remembers ? *d_previous : kNoPrevious;
  for (int picture = first; picture < end; ++picture) {
    if (params.remembers && picture_params != nullptr) {
      std::int8_t* const d_own =
          work.previous + static_cast<std::size_t>(picture_params[picture].stream) * macroblocks + mb;
      if (d_own != d_previous) {
        *d_previous = static_cast<std::int8_t>(previous);
        d_previous = d_own;
        previous = *d_previous;
      }
      if (picture_params[picture].index == 0) previous = kNoPrevious;
    }
    const std::size_t at = static_cast<std::size_t>(picture) * macroblocks + mb;
    int offset = 0;
    if (params.mode != AqMode::none) {
      const int weight = macroblock_weight(params.mode, work.sums[at]);
      offset = settled_offset(offset_target(weight, work.means[picture], params.strength), previous);
    }
    if (params.remembers) previous = offset;
    if (picture_params != nullptr)
      offset += core::row_raise(picture_params[picture], mb / mb_width, mb_height);
    work.offsets[at] = static_cast<std::int8_t>(offset);
  }
  if (params.remembers) *d_previous = static_cast<std::int8_t>(previous);
}

}  // namespace

namespace {

template <bool kEdges>
void launch_sums(const PicturePlanes& luma, const EdgePlanes& edges, int width, int height, int pictures,
                 MacroblockSums* sums, cudaStream_t stream) {
  const int macroblocks = macroblocks_of_size(width, height), together = kThreads / kMacroblockSide;
  const dim3 blocks(static_cast<unsigned>((macroblocks + together - 1) / together),
                    static_cast<unsigned>(pictures));
  macroblock_sums_of<kEdges><<<blocks, kThreads, 0, stream>>>(
      luma, edges, width, height, (width + kMacroblockSide - 1) / kMacroblockSide, macroblocks, sums);
  check_launch("macroblock_sums_of");
}

}  // namespace

void launch_macroblock_sums(const PicturePlanes& luma, const EdgePlanes& edges, int width, int height,
                            int pictures, MacroblockSums* sums, cudaStream_t stream) {
  const auto launch = edges.first != nullptr ? launch_sums<true> : launch_sums<false>;
  launch(luma, edges, width, height, pictures, sums, stream);
}

void launch_step_sums(const PicturePlanes& luma, int width, int height, int pictures, MacroblockSums* sums,
                      cudaStream_t stream) {
  const int macroblocks = macroblocks_of_size(width, height), warps = kThreads / 32;
  const dim3 blocks(static_cast<unsigned>((macroblocks + warps - 1) / warps),
                    static_cast<unsigned>(pictures));
  step_sums_of<<<blocks, kThreads, 0, stream>>>(
      luma, width, height, (width + kMacroblockSide - 1) / kMacroblockSide, macroblocks, sums);
  check_launch("step_sums_of");
}

void launch_qp_offsets(const AqParams& params, int mb_width, int mb_height, int pictures,
                       const QpOffsetMemory& work, cudaStream_t stream,
                       const core::PictureParams* picture_params) {
  const int macroblocks = mb_width * mb_height;
  if (params.mode != AqMode::none) {
    mean_weights<<<static_cast<unsigned>(pictures), 1024, 0, stream>>>(params.mode, macroblocks, work.sums,
                                                                       work.means);
    check_launch("mean_weights");
  }
  const dim3 blocks(static_cast<unsigned>((macroblocks + kThreads - 1) / kThreads),
                    params.remembers ? 1u : static_cast<unsigned>(pictures));
  settle_offsets<<<blocks, kThreads, 0, stream>>>(params, mb_width, mb_height, pictures, work,
                                                  picture_params);
  check_launch("settle_offsets");
}

void launch_qp_offset_reset(int macroblocks, std::int8_t* previous, cudaStream_t stream) {
  check_cuda(cudaMemsetAsync(previous, kNoPrevious, static_cast<std::size_t>(macroblocks), stream),
             "clearing device memory");
}

}  // namespace cu264::encoder::cuda
