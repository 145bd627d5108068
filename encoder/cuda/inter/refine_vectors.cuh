// The refinement of whole-sample vectors. A warp refines those of a macroblock. All trials of the whole
// macroblock lie within a sample of its whole-sample vector, so the planes around it are taken to shared
// memory first. Lanes hold a trial each, which the warp measures one after another; with partitions lanes
// also hold the best vector of a partition each.
//
// For the measurement lane 4 * g + t has row t of the 4x4 block g, and of the block eight rows below.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/motion_prediction.h"
#include "core/motion_refinement.h"
#include "core/motion_search.h"
#include "core/partitions.h"
#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/cuda/inter/reference_samples.cuh"
#include "encoder/cuda/inter/sample_words.cuh"
#include "encoder/cuda/search/warp_satd.cuh"

namespace cu264::encoder::cuda {

inline constexpr int kRefineWarps = 4;

// A lane's samples of a macroblock.
struct LaneRows {
  std::uint32_t upper, lower;
};

// The samples around a macroblock in the four planes of the reference, 18x18 of each. Planes lie two side by
// side. A row of twelve words puts what the lanes of a warp read at once into different banks.
struct ReferenceWindow {
  static constexpr int kRows = 18, kWordsOfRow = 6, kPitch = 2 * kWordsOfRow;
  std::uint32_t words[2 * kRows * kPitch + 1];  // the last one is read, but no sample of it used

  static CU264_HD_MEMBER constexpr int word_of_plane(int plane) {
    return (plane >> 1) * kRows * kPitch + (plane & 1) * kWordsOfRow;
  }

  // Takes the samples from (x - 1, y - 1) on. Returns how many bytes those of the first sample's word precede
  // it.
  __device__ int load(const ReferencePlanes& planes, int x, int y, int lane) {
    static_assert(core::kReferencePlanes * kWordsOfRow <= 32);
    const int left = x - 1, before = left & 3;
    const int plane = lane / kWordsOfRow, column = lane % kWordsOfRow;
    if (plane >= core::kReferencePlanes) return before;
    const std::uint8_t* from = planes.samples + (static_cast<std::ptrdiff_t>(y - 1) * planes.pitch + left -
                                                 before + 4 * column + plane * planes.distance);
    std::uint32_t* const to = words + word_of_plane(plane) + column;
    std::uint32_t rows[kRows];  // all loads are under way before the first store
#pragma unroll
    for (int row = 0; row < kRows; ++row, from += planes.pitch) rows[row] = aligned_word(from);
#pragma unroll
    for (int row = 0; row < kRows; ++row) to[row * kPitch] = rows[row];
    return before;
  }

  // In bytes from the window's first, for a vector within a sample of that of the window.
  static __device__ SamplePair pair_at(int before, core::MotionVector difference) {
    const core::QuarterSample q = core::quarter_sample(difference.x & 3, difference.y & 3);
    const int column = 1 + (difference.x >> 2), row = 1 + (difference.y >> 2);
    const auto at = [&](const core::SampleSource& s) {
      return 4 * word_of_plane(s.plane) + (row + s.y) * 4 * kPitch + before + column + s.x;
    };
    return {at(q.first), at(q.second)};
  }
  // Four samples from a byte on, and those eight rows below.
  __device__ LaneRows rows_of(int byte) const {
    constexpr int kBelow = 8 * kPitch;
    const std::uint32_t* const at = words + (byte >> 2);
    const auto shift = 8 * static_cast<std::uint32_t>(byte);
    return {__funnelshift_r(at[0], at[1], shift), __funnelshift_r(at[kBelow], at[kBelow + 1], shift)};
  }
  template <bool kMean>
  __device__ LaneRows rows_at(const SamplePair& pair, int offset) const {
    const LaneRows first = rows_of(pair.first + offset);
    if constexpr (!kMean) return first;
    const LaneRows second = rows_of(pair.second + offset);
    return {__vavgu4(first.upper, second.upper), __vavgu4(first.lower, second.lower)};
  }
};

// Where a lane's samples are in a macroblock.
struct LanePlace {
  int x, y;

  __device__ explicit LanePlace(int lane) : x(4 * (lane >> 2 & 3)), y(4 * (lane >> 4) + (lane & 3)) {}
};

struct MacroblockMeasure {
  HadamardMatrix hadamard;
  LaneRows source;
  int lane;

  __device__ int upper(std::uint32_t predicted) const {
    return satd_of_all(hadamard_differences(hadamard, source.upper, predicted));
  }
  __device__ int lower(std::uint32_t predicted) const {
    return satd_of_all(hadamard_differences(hadamard, source.lower, predicted));
  }
  __device__ int satd(const LaneRows& predicted) const {
    return warp_sum(upper(predicted.upper) + lower(predicted.lower));
  }
  // SATD of the four 8x8 blocks. Lane 4 * g + t has coefficients of the 4x4 blocks 2 * t and 2 * t + 1, which
  // lie in the right half if t is odd. 16 bits hold the SATD of an 8x8 block: that of a 4x4 block is at most
  // 16 * 4 * 255, since the squares of its coefficients sum to 16 times those of its differences.
  __device__ void satd_of_blocks(const LaneRows& predicted, int (&satd)[4]) const {
    const auto both = static_cast<std::uint32_t>(upper(predicted.upper)) |
                      static_cast<std::uint32_t>(lower(predicted.lower)) << 16;
    const bool right = (lane & 1) != 0;
    const std::uint32_t left_sums = warp_sum(right ? 0u : both), right_sums = warp_sum(right ? both : 0u);
    satd[0] = static_cast<int>(left_sums & 0xffffu), satd[2] = static_cast<int>(left_sums >> 16);
    satd[1] = static_cast<int>(right_sums & 0xffffu), satd[3] = static_cast<int>(right_sums >> 16);
  }
};

// What a vector's trial takes; each lane holds its own.
struct LaneTrial {
  core::MotionVector vector;
  std::int32_t cost;  // of its bits

  __device__ LaneTrial(core::MotionVector wanted, const core::MotionLimits& limits,
                       core::MotionVector predicted, int lambda)
      : vector(limits.clamp(wanted.x, wanted.y)), cost(lambda * core::mvd_bits(vector - predicted)) {}
};

// The trials of 8x8 blocks with vectors of their own. Eight lanes hold the trials of a block; the four blocks
// are measured at the same time.
class BlockTrials {
 public:
  __device__ BlockTrials(const MacroblockMeasure& measure, const ReferencePlanes& planes, int x, int y,
                         core::RefinedVector& best)
      : measure_(measure),
        planes_(planes),
        lane_(measure.lane),
        place_(measure.lane),
        block_x_(x + 8 * (lane_ >> 3 & 1)),
        block_y_(y + 8 * (lane_ >> 4)),
        best_(best) {}

  // Measures the trials [first, end) of each block's eight lanes, and takes those of the blocks that `wanted`
  // has, one bit each.
  __device__ void run(const LaneTrial& trial, int first, int end, unsigned wanted) {
    // From the block's first sample; a lane adds its place in the block.
    const SamplePair pair = planes_.pair_at(block_x_, block_y_, trial.vector);
    const int column = place_.x >> 3, offset = place_.y * planes_.pitch + (place_.x & 7);
#pragma unroll 1
    for (int i = first; i < end; ++i) {
      LaneRows predicted;
      predicted.upper = planes_.four_at(pair_in_lane(pair, 8 * column + i), offset);
      predicted.lower = planes_.four_at(pair_in_lane(pair, 8 * (2 + column) + i), offset);
      int satd[4];
      measure_.satd_of_blocks(predicted, satd);
      const int block = lane_ - core::kBlockPartitions;  // of the partition whose best vector the lane holds
      const int from = (8 * block + i) & 31;
      const core::MotionVector v = vector_in_lane(trial.vector, from);
      const std::int32_t cost = __shfl_sync(kAllLanes, trial.cost, from);
      if (block >= 0 && block < 4 && (wanted >> block & 1) != 0) {
        best_.take(v, core::satd_of(1 << block, satd), cost);
      }
    }
  }

 private:
  const MacroblockMeasure& measure_;
  const ReferencePlanes& planes_;
  const int lane_;
  const LanePlace place_;
  const int block_x_, block_y_;
  core::RefinedVector& best_;
};

// The neighbours' whole-sample vectors.
struct WholeNeighbours {
  const core::MotionVector* here;

  CU264_HD_MEMBER core::MotionNeighbour operator()(int offset, int) const {
    return {true, true, core::from_whole_samples(here[offset])};
  }
};

template <bool kWithPartitions>
class Refinement {
 public:
  __device__ Refinement(const MotionStep& motion, ReferenceWindow& window, int picture, int mb_x, int mb_y,
                        int lane)
      : chain_(motion.step.chains[picture]),
        window_(window),
        planes_(chain_),
        lane_(lane),
        place_(lane),
        x_(16 * mb_x),
        y_(16 * mb_y),
        mb_(mb_y * motion.step.batch.mb_width + mb_x),
        limits_(motion.limits(mb_x, mb_y)),
        lambda_(motion.satd_lambda(picture)),
        measure_{HadamardMatrix(lane), source_rows(), lane} {
    const core::MotionPlace place = core::motion_place(mb_x, motion.above(mb_y), motion.step.batch.mb_width);
    predicted_ =
        core::median_prediction(core::motion_neighbours(place, 0, 2, WholeNeighbours{chain_.whole[1] + mb_}));
    blocks_ = core::partition_blocks(lane < core::kPartitions ? lane : 0);
  }

  __device__ void run() {
    const core::MotionVector whole = chain_.whole[1][mb_];
    start_ = core::from_whole_samples(whole);
    before_ = window_.load(planes_, x_ + whole.x, y_ + whole.y, lane_);
    __syncwarp();
    // Lane 0 has the vector itself, the next eight those around it.
    const core::MotionVector half = core::around(start_, (lane_ - 1) & 7, core::kHalfSampleStep);
    try_everywhere<0>(trial_of(lane_ == 0 ? start_ : half));
    const core::MotionVector centre = vector_in_lane(best_.vector, 0);
    try_everywhere<1>(trial_of(core::around(centre, (lane_ - 1) & 7, core::kQuarterSampleStep)));
    if constexpr (kWithPartitions) {
      try_blocks(centre);
      try_halves();
    }
    store();
  }

 private:
  __device__ LaneRows source_rows() const {
    const std::uint8_t* const samples = chain_.source[0].at(x_ + place_.x, y_ + place_.y);
    return {aligned_word(samples), aligned_word(samples + 8 * chain_.source[0].pitch)};
  }
  __device__ LaneTrial trial_of(core::MotionVector wanted) const {
    return {wanted, limits_, predicted_, lambda_};
  }

  // Measures the trials of lanes [kFirst, 9).
  template <int kFirst>
  __device__ void try_everywhere(const LaneTrial& trial) {
    const SamplePair pair = ReferenceWindow::pair_at(before_, trial.vector - start_);
    // Half samples are no means, except beside a limit of vectors.
    const bool mean = __any_sync(kAllLanes, lane_ < 9 && pair.first != pair.second);
    std::int32_t own_satd = 0;  // without partitions
    if (mean) {
      measure_trials<kFirst, true>(trial, pair, own_satd);
    } else {
      measure_trials<kFirst, false>(trial, pair, own_satd);
    }
    if constexpr (!kWithPartitions) take_least(trial, kFirst, own_satd);
  }
  template <int kFirst, bool kMean>
  __device__ void measure_trials(const LaneTrial& trial, const SamplePair& pair, std::int32_t& own_satd) {
    const int offset = place_.y * 4 * ReferenceWindow::kPitch + place_.x;
    constexpr int kUnrolled = kWithPartitions ? 1 : 3 - kFirst;
#pragma unroll(kUnrolled)
    for (int i = kFirst; i < 9; ++i) {
      const LaneRows predicted = window_.rows_at<kMean>(
          kMean ? pair_in_lane(pair, i) : SamplePair{__shfl_sync(kAllLanes, pair.first, i), 0}, offset);
      if constexpr (kWithPartitions) {
        int satd[4];
        measure_.satd_of_blocks(predicted, satd);
        const std::int32_t cost = __shfl_sync(kAllLanes, trial.cost, i);
        best_.take(vector_in_lane(trial.vector, i), core::satd_of(blocks_, satd), cost);
      } else {
        const std::int32_t satd = measure_.satd(predicted);
        if (lane_ == i) own_satd = satd;
      }
    }
  }
  // Takes the best of the trials of lanes [first, 9), each with the SATD of its own, as if they were taken
  // one after another.
  __device__ void take_least(const LaneTrial& trial, int first, std::int32_t own_satd) {
    const auto cost = static_cast<std::uint32_t>(own_satd + trial.cost);
    const bool there = lane_ >= first && lane_ < 9;
    const std::uint32_t least = warp_min(there ? cost << 4 | static_cast<std::uint32_t>(lane_) : 0xffffffffu);
    const int winner = static_cast<int>(least & 15);
    best_.take(vector_in_lane(trial.vector, winner), __shfl_sync(kAllLanes, own_satd, winner),
               __shfl_sync(kAllLanes, trial.cost, winner));
  }

  __device__ void try_blocks(core::MotionVector centre) {
    BlockTrials trials(measure_, planes_, x_, y_, best_);
    const int block = lane_ >> 3, i = lane_ & 7;
    const core::MotionVector own = core::from_whole_samples(chain_.blocks[4 * mb_ + block]);
    unsigned wanted = blocks_that(core::block_tries_own(own, start_));
    if (wanted != 0) {
      trials.run(trial_of(own), 0, 1, wanted);
      trials.run(trial_of(core::around(own, i, core::kHalfSampleStep)), 0, 8, wanted);
    }
    const core::MotionVector half = vector_in_lane(best_.vector, core::kBlockPartitions + block);
    wanted = blocks_that(core::block_tries_quarters(half, centre));
    if (wanted != 0) trials.run(trial_of(core::around(half, i, core::kQuarterSampleStep)), 0, 8, wanted);
  }
  // One bit for each block for whose lanes it is true.
  static __device__ unsigned blocks_that(bool is) {
    const unsigned lanes = __ballot_sync(kAllLanes, is);
    return (lanes & 1) | (lanes >> 7 & 2) | (lanes >> 14 & 4) | (lanes >> 21 & 8);
  }

  __device__ void try_halves() {
    const int offset = place_.y * planes_.pitch + place_.x;
    const bool holds_half = lane_ >= 1 && lane_ < core::kBlockPartitions;
#pragma unroll 1
    for (int block = 0; block < 4; ++block) {
      const core::MotionVector v = vector_in_lane(best_.vector, core::kBlockPartitions + block);
      const SamplePair pair = planes_.pair_at(x_, y_, v);
      const LaneRows predicted = {planes_.four_at(pair, offset),
                                  planes_.four_at(pair, offset + 8 * planes_.pitch)};
      int satd[4];
      measure_.satd_of_blocks(predicted, satd);
      if (!holds_half || (blocks_ >> block & 1) == 0) continue;
      best_.take(v, core::satd_of(blocks_, satd), lambda_ * core::mvd_bits(v - predicted_));
    }
  }

  __device__ void store() {
    PartitionVectors& refined = chain_.refined[mb_];
    if (lane_ < (kWithPartitions ? core::kPartitions : 1)) {
      refined.vector[lane_] = best_.vector;
      refined.satd[lane_] = best_.satd;
    }
    // What the neighbours see at first.
    if (lane_ != 0) return;
    for (core::MotionVector& v : chain_.fields[0][mb_].vector) v = best_.vector;
  }

  const ChainView& chain_;
  ReferenceWindow& window_;
  const ReferencePlanes planes_;
  const int lane_;
  const LanePlace place_;
  const int x_, y_, mb_;
  const core::MotionLimits limits_;
  const int lambda_;
  const MacroblockMeasure measure_;
  core::MotionVector predicted_, start_;
  int before_ = 0;
  int blocks_;                // of the partition whose best vector the lane holds
  core::RefinedVector best_;  // without partitions all lanes hold that of the macroblock
};

template <bool kWithPartitions>
__global__ void __launch_bounds__(32 * kRefineWarps)
    refine_vectors(const __grid_constant__ MotionStep motion) {
  __shared__ ReferenceWindow s_windows[kRefineWarps];
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const int mb_x = static_cast<int>(blockIdx.x) * kRefineWarps + warp;
  if (mb_x >= motion.step.batch.mb_width) return;
  Refinement<kWithPartitions>(motion, s_windows[warp], motion.first_picture + static_cast<int>(blockIdx.z),
                              mb_x, static_cast<int>(blockIdx.y), lane)
      .run();
}

}  // namespace cu264::encoder::cuda
