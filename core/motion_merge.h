// A merge pass over a macroblock of a P picture: vectors and partitions are chosen anew, with the vectors
// that the neighbours had in the pass before. Every partition is offered the vector that is predicted for it,
// whose mvd costs the fewest bits; that of the whole macroblock also the vector of P_Skip.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/motion_limits.h"
#include "core/motion_prediction.h"
#include "core/motion_vector.h"
#include "core/partitions.h"

namespace cu264::core {

// How a macroblock is to be predicted.
struct InterTrial {
  MacroblockKind kind = MacroblockKind::p16x16;
  MotionVector vector[4];  // by 8x8 block
  std::int32_t satd = 0, bits = 0;
  bool skips = false;  // the vector is that of P_Skip
};

// The vectors of a pass: those of this macroblock are those of the trial, those of others the pass before's.
struct TrialField {
  const InterTrial* trial;
  const MotionRecord* before;  // of this macroblock

  CU264_HD_MEMBER MotionNeighbour operator()(int offset, int block) const {
    return {true, true, offset == 0 ? trial->vector[block] : before[offset].vector[block]};
  }
};

// The best vector of a partition so far.
struct OfferedVector {
  MotionVector vector;
  std::int32_t satd, bits;
};

// Takes a vector instead of `best` unless it costs more. measure(partition, v, wanted) returns the SATD;
// where it is not wanted its value does not matter, but threads that measure together all call.
template <class Measure>
CU264_FLOW void offer_vector(Measure& measure, int partition, MotionVector v, std::int32_t bits,
                             const MotionLimits& limits, int lambda, OfferedVector& best) {
  const bool wanted = !(v == best.vector) && limits.allow(v);
  const std::int32_t satd = measure(partition, v, wanted);
  if (!wanted || satd + lambda * bits > best.satd + lambda * best.bits) return;
  best = {v, satd, bits};
}

// Bits of mvd_l0 that is zero.
inline constexpr int kZeroMvdBits = 2;

// The vectors and the cost of one kind. `refined`: what the refinement found for each partition.
template <class Measure>
CU264_FLOW InterTrial try_inter_kind(Measure& measure, const MotionPlace& place, const MotionRecord* field,
                                     const PartitionVectors& refined, MacroblockKind kind,
                                     const MotionLimits& limits, int lambda) {
  InterTrial trial;
  trial.kind = kind, trial.bits = inter_type_bits(kind);
  for (int block = 0; block < 4; ++block) {
    if (!begins_partition(kind, block)) continue;
    const int partition = partition_index(kind, block);
    const MotionNeighbours n =
        motion_neighbours(place, block, partition_width(kind), TrialField{&trial, field});
    const MotionVector predicted = predicted_vector(n, kind, block);
    const MotionVector own = refined.vector[partition];
    OfferedVector best{own, refined.satd[partition], mvd_bits(own - predicted)};
    offer_vector(measure, partition, predicted, kZeroMvdBits, limits, lambda, best);
    if (kind == MacroblockKind::p16x16) {
      const MotionVector skip = skip_vector(n);
      // P_Skip takes one bit for the macroblock, and no mb_type.
      const std::int32_t bits = skip == predicted ? 1 : mvd_bits(skip - predicted);
      offer_vector(measure, partition, skip, bits, limits, lambda, best);
      trial.skips = best.vector == skip;
      if (trial.skips) best.bits = 0;
    }
    set_partition(trial.vector, partition, best.vector);
    trial.satd += best.satd, trial.bits += best.bits;
  }
  return trial;
}

// The cheapest kind, of equal ones the first. `partitions`: whether others than 16x16 are tried.
template <class Measure>
CU264_FLOW InterTrial choose_inter_kind(Measure& measure, const MotionPlace& place, const MotionRecord* field,
                                        const PartitionVectors& refined, bool partitions,
                                        const MotionLimits& limits, int lambda) {
  InterTrial best;
  std::int32_t least = INT32_MAX;
  for (int i = 0; i < (partitions ? kPartitionKinds : 1); ++i) {
    const InterTrial trial =
        try_inter_kind(measure, place, field, refined, kind_of_partitions(i), limits, lambda);
    const std::int32_t cost = trial.satd + lambda * trial.bits;
    if (cost >= least) continue;
    least = cost, best = trial;
  }
  return best;
}

}  // namespace cu264::core
