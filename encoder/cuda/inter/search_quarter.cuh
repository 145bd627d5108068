// The exhaustive search at quarter size. A warp searches for one block of 8x8 samples; the warps of a thread
// block, which are neighbours, share the window of the picture before in shared memory. A lane measures the
// vectors of one horizontal component. It goes down the rows of the window, shifts each into place once, and
// adds its differences from the rows of the block to the sums of the eight vectors that put them there.
#pragma once

#include "common/cuda/warp.cuh"
#include "core/motion_search.h"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/inter/sample_words.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kQuarterWarps = 4;

class QuarterSearch {
 public:
  static constexpr int kRange = core::kQuarterRange, kVectors = 2 * kRange, kBlock = core::kQuarterBlock;
  static_assert(kVectors == 32, "a lane for each horizontal component");
  static_assert(kBlock == 8);

  static constexpr int kRows = kVectors + kBlock - 1;
  static constexpr int kPitch = (kVectors + kQuarterWarps * kBlock) / 4;  // words of a row of the window

  struct Window {
    alignas(16) std::uint32_t words[kRows * kPitch];
    std::uint32_t keys[kVectors];  // what a vertical component adds to a key
  };

  // A key is a cost with the order in which its vector is tried below it: all vectors in raster order, but no
  // motion first.
  static constexpr int kOrderBits = 11;
  static_assert(kVectors * kVectors < 1 << kOrderBits);
  static constexpr int kOrderOfNone = 1 + kVectors * kRange + kRange;

  // Lambda times the bits of one component.
  static __device__ std::uint32_t component_cost(int component, int lambda) {
    return core::vector_cost(core::motion_vector(0, component), {}, 1, lambda) -
           core::vector_cost({}, {}, 1, lambda) / 2;
  }
  static __device__ std::uint32_t key_of_row(int row, int lambda) {
    return (component_cost(row - kRange, lambda) << kOrderBits) +
           static_cast<std::uint32_t>(1 + kVectors * row);
  }

  __device__ QuarterSearch(const DevicePlane& source, int x, int y, int lane, int lambda)
      : lane_(lane),
        key_((component_cost(lane - kRange, lambda) << kOrderBits) + static_cast<std::uint32_t>(lane)) {
#pragma unroll
    for (int row = 0; row < kBlock; ++row)
      block_[row] = __ldg(reinterpret_cast<const uint2*>(source.at(x, y + row)));
  }

  // `first`: the first word of the block's part of the window.
  __device__ core::MotionVector run(const Window& window, int first) {
    const std::uint32_t* at = window.words + first + lane_ / 4;
    at = eight_rows<Part::first>(window, at, 0);
#pragma unroll 1
    for (int row = kBlock; row < kVectors; row += kBlock) at = eight_rows<Part::middle>(window, at, row);
    eight_rows<Part::last>(window, at, kVectors);
    const int order = static_cast<int>(warp_min(best_) & ((1u << kOrderBits) - 1)), raster = order - 1;
    return order == 0 ? core::motion_vector(0, 0)
                      : core::motion_vector(raster % kVectors - kRange, raster / kVectors - kRange);
  }

 private:
  enum class Part { first, middle, last };

  // Adds window rows [row, row + 8), of which the last part has seven.
  template <Part kPart>
  __device__ const std::uint32_t* eight_rows(const Window& window, const std::uint32_t* at, int row) {
    const auto shift = 8 * static_cast<std::uint32_t>(lane_ & 3);
#pragma unroll
    for (int i = 0; i < kBlock; ++i, at += kPitch) {
      if (kPart == Part::last && i == kBlock - 1) break;
      const std::uint32_t left = __funnelshift_r(at[0], at[1], shift);
      const std::uint32_t right = __funnelshift_r(at[1], at[2], shift);
#pragma unroll
      for (int k = 0; k < kBlock; ++k) {
        // The vertical component is row + i - k, from the window's first row.
        if ((kPart == Part::first && k > i) || (kPart == Part::last && k <= i)) continue;
        std::uint32_t& sum = sums_[(i - k) & 7];
        sum = add_differences(left, block_[k].x, k == 0 ? 0 : sum);
        sum = add_differences(right, block_[k].y, sum);
      }
      if (kPart == Part::first && i < kBlock - 1) continue;
      const int vertical = row + i - (kBlock - 1);
      std::uint32_t key = (sums_[(i + 1) & 7] << kOrderBits) + key_ + window.keys[vertical];
      if (i == kBlock - 1 && row + i == kRange + kBlock - 1 && lane_ == kRange) key -= kOrderOfNone;
      best_ = min(best_, key);
    }
    return at;
  }

  const int lane_;
  const std::uint32_t key_;
  uint2 block_[kBlock];
  std::uint32_t sums_[kBlock];  // by the vertical component modulo 8
  std::uint32_t best_ = 0xffffffffu;
};

__global__ void __launch_bounds__(32 * kQuarterWarps)
    search_quarter_size(const __grid_constant__ MotionStep motion) {
  using Search = QuarterSearch;
  __shared__ Search::Window s_window;
  const int thread = static_cast<int>(threadIdx.x), lane = thread & 31;
  const int picture = motion.first_picture + static_cast<int>(blockIdx.z);
  const ChainView& chain = motion.step.chains[picture];
  const int region_width = (motion.step.batch.mb_width + 1) / 2;
  const int first = static_cast<int>(blockIdx.x) * kQuarterWarps;
  const int y = Search::kBlock * static_cast<int>(blockIdx.y);
  const int lambda = motion.sad_lambda(picture);

  if (thread < Search::kVectors) s_window.keys[thread] = Search::key_of_row(thread, lambda);
  // Beside a picture's last blocks the window may end beyond the padding, where no vector points.
  const std::uint8_t* const before =
      chain.before[2].at(Search::kBlock * first - Search::kRange, y - Search::kRange);
  constexpr int kQuads = Search::kPitch / 4;
  for (int i = thread; i < Search::kRows * kQuads; i += 32 * kQuarterWarps) {
    const int row = i / kQuads, column = i % kQuads;
    *reinterpret_cast<uint4*>(&s_window.words[row * Search::kPitch + 4 * column]) =
        __ldg(reinterpret_cast<const uint4*>(before + row * chain.before[2].pitch + 16 * column));
  }
  __syncthreads();
  const int warp = thread >> 5, region = first + warp;
  if (region >= region_width) return;
  Search search(chain.source[2], Search::kBlock * region, y, lane, lambda);
  const core::MotionVector best = search.run(s_window, warp * (Search::kBlock / 4));
  if (lane == 0) chain.quarter[static_cast<int>(blockIdx.y) * region_width + region] = best;
}

}  // namespace cu264::encoder::cuda
