// A merge pass. A lane decides about a macroblock; the warp measures what its lanes want to know, one
// macroblock after another.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/motion_merge.h"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/inter/reference_samples.cuh"
#include "encoder/cuda/inter/sample_words.cuh"
#include "encoder/cuda/search/warp_satd.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kMergeWarps = 4;

// Measures partitions of the lanes' macroblocks. In a measurement lane 4 * g + t has row t of the 4x4 block g
// of what is measured.
class WarpMeasure {
 public:
  __device__ WarpMeasure(const ChainView& chain, int x, int y, int lane)
      : planes_(chain), source_(chain.source[0]), hadamard_(lane), lane_(lane), x_(x), y_(y) {}

  // The SATD of a partition of the lane's macroblock, where it is wanted. The partition is the same in all
  // lanes, which all take part.
  __device__ std::int32_t operator()(int partition, core::MotionVector v, bool wanted) {
    unsigned todo = __ballot_sync(kAllLanes, wanted);
    if (todo == 0) return 0;
    const int blocks = core::partition_blocks(partition);
    const int first = __ffs(blocks) - 1;  // of the partition's 8x8 blocks
    const int x = x_ + 8 * (first & 1), y = y_ + 8 * (first >> 1);
    const SamplePair pair = planes_.pair_at(x, y, v);
    const int own = y * source_.pitch + x;
    std::int32_t satd = 0;
    if (blocks == 15) {
      satd = satd_of_macroblocks(pair, own, todo);
    } else if ((blocks & (blocks - 1)) != 0) {
      const bool wide = blocks == 3 || blocks == 12;
      const int column = wide ? lane_ >> 2 & 3 : lane_ >> 2 & 1, row = wide ? lane_ >> 4 : lane_ >> 3;
#pragma unroll 1
      for (; todo != 0; todo &= todo - 1) {
        const int i = __ffs(static_cast<int>(todo)) - 1;
        const std::int32_t sum = warp_sum(satd_of_eight(pair, own, i, column, row));
        if (lane_ == i) satd = sum;
      }
    } else {
      satd = satd_of_pairs(pair, own, todo);
    }
    return satd;
  }

 private:
  // A lane's share of the SATD of eight 4x4 blocks, its own in (column, row) of the partition of the
  // macroblock that lane i has.
  __device__ std::int32_t satd_of_eight(const SamplePair& pair, int own, int i, int column, int row) const {
    const int y = 4 * row + (lane_ & 3);
    const std::uint32_t source =
        aligned_word(source_.samples + (__shfl_sync(kAllLanes, own, i) + y * source_.pitch + 4 * column));
    const std::uint32_t predicted = planes_.four_at(pair_in_lane(pair, i), y * planes_.pitch + 4 * column);
    return satd_of_all(hadamard_differences(hadamard_, source, predicted));
  }
  // Two macroblocks at a time, so that the loads of both are under way together.
  __device__ std::int32_t satd_of_macroblocks(const SamplePair& pair, int own, unsigned todo) const {
    const int x = 4 * (lane_ >> 2 & 3), y = 4 * (lane_ >> 4) + (lane_ & 3);
    const int in_source = y * source_.pitch + x, in_planes = y * planes_.pitch + x;
    std::int32_t satd = 0;
#pragma unroll 1
    while (todo != 0) {
      int from[2];
      from[0] = __ffs(static_cast<int>(todo)) - 1;
      todo &= todo - 1;
      from[1] = todo != 0 ? __ffs(static_cast<int>(todo)) - 1 : from[0];
      todo &= todo - 1;
      std::uint32_t source[2][2], predicted[2][2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const std::uint8_t* const samples =
            source_.samples + (__shfl_sync(kAllLanes, own, from[k]) + in_source);
        const SamplePair there = pair_in_lane(pair, from[k]);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          source[k][half] = aligned_word(samples + 8 * half * source_.pitch);
          predicted[k][half] = planes_.mean_at(there, in_planes + 8 * half * planes_.pitch);
        }
      }
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const std::int32_t share =
            satd_of_all(hadamard_differences(hadamard_, source[k][0], predicted[k][0])) +
            satd_of_all(hadamard_differences(hadamard_, source[k][1], predicted[k][1]));
        const std::int32_t sum = warp_sum(share);
        if (lane_ == from[k]) satd = sum;
      }
    }
    return satd;
  }
  // 8x8 blocks of two macroblocks at a time. Lanes whose t is below 2 have the coefficients of the first.
  __device__ std::int32_t satd_of_pairs(const SamplePair& pair, int own, unsigned todo) const {
    std::int32_t satd = 0;
#pragma unroll 1
    while (todo != 0) {
      const int i = __ffs(static_cast<int>(todo)) - 1;
      todo &= todo - 1;
      const int k = todo != 0 ? __ffs(static_cast<int>(todo)) - 1 : i;
      todo &= todo - 1;
      const auto share = static_cast<std::uint32_t>(
          satd_of_eight(pair, own, lane_ < 16 ? i : k, lane_ >> 2 & 1, lane_ >> 3 & 1));
      const std::uint32_t sums = warp_sum((lane_ & 2) != 0 ? share << 16 : share);
      if (lane_ == k) satd = static_cast<std::int32_t>(sums >> 16);
      if (lane_ == i) satd = static_cast<std::int32_t>(sums & 0xffffu);
    }
    return satd;
  }

  const ReferencePlanes planes_;
  const DevicePlane source_;
  const HadamardMatrix hadamard_;
  const int lane_, x_, y_;
};

template <bool kWithPartitions>
__global__ void __launch_bounds__(32 * kMergeWarps)
    merge_vectors(const __grid_constant__ MotionStep motion, int pass) {
  const BatchView& batch = motion.step.batch;
  const int lane = static_cast<int>(threadIdx.x) & 31,
            picture = motion.first_picture + static_cast<int>(blockIdx.y);
  const int place = static_cast<int>(blockIdx.x) * 32 * kMergeWarps + static_cast<int>(threadIdx.x);
  const int mbs = batch.macroblocks_per_picture();
  if (place - lane >= mbs) return;
  const int mb = min(place, mbs - 1), mb_x = mb % batch.mb_width, mb_y = mb / batch.mb_width;
  const ChainView& chain = motion.step.chains[picture];
  WarpMeasure measure(chain, 16 * mb_x, 16 * mb_y, lane);
  const core::InterTrial best = core::choose_inter_kind(
      measure, core::motion_place(mb_x, motion.above(mb_y), batch.mb_width), chain.fields[pass] + mb,
      chain.refined[mb], kWithPartitions, motion.limits(mb_x, mb_y), motion.satd_lambda(picture));
  if (place >= mbs) return;
  if (pass == 1) chain.choices[mb] = choice_of(best);
  chain.fields[pass ^ 1][mb] = motion_of(best);
}

}  // namespace cu264::encoder::cuda
