// Vectors at half and quarter samples of the reference picture, and the choice of partitions. The first pass
// refines the whole-sample vectors of a macroblock by itself; the others offer it what its neighbours
// predict.
#pragma once

#include <cstdint>

#include "core/cost.h"
#include "core/motion_merge.h"
#include "core/motion_prediction.h"
#include "core/motion_refinement.h"
#include "core/partitions.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu/inter_prediction_inl.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"
#include "encoder/cpu/motion_search_inl.h"

namespace cu264::encoder::CU264_ISA {

// A macroblock whose vectors are refined.
struct RefinedMacroblock {
  const GopChain& chain;
  int x, y;  // in samples
  int lambda;
  core::MotionLimits limits;
  TwoRows source[8];  // rows 0 and 4 side by side, 1 and 5 and so on, then those of the lower half

  RefinedMacroblock(const GopChain& c, int mb_x, int mb_y, int satd_lambda)
      : chain(c), x(16 * mb_x), y(16 * mb_y), lambda(satd_lambda), limits(macroblock_limits(c, mb_x, mb_y)) {
    for (int i = 0; i < 8; ++i) {
      ByteLanes upper, lower;
      load_bytes(plane().at(x, y + first_row(i)), upper);
      load_bytes(plane().at(x, y + first_row(i) + 4), lower);
      widen(upper, lower, source[i]);
    }
  }

  const PaddedPlane& plane() const { return chain.source[chain.current][0]; }
  // The first of the two rows that source[i] holds.
  static int first_row(int i) { return i + (i & 4); }

  // Adds the SATD of the upper or lower half, by column.
  void accumulate_half(const BlockSource& from, int half, TwoUnsignedRows& total) const {
    TwoRows row[4];
    for (int i = 0; i < 4; ++i) {
      ByteLanes upper, lower;
      predict_row16(from, 8 * half + i, upper);
      predict_row16(from, 8 * half + i + 4, lower);
      widen(upper, lower, row[i]);
      row[i] = source[4 * half + i] - row[i];
    }
    accumulate_satd(row, total);
  }

  int satd(core::MotionVector v) const {
    const BlockSource from = block_source(chain, x, y, v);
    TwoUnsignedRows total{};
    for (int half = 0; half < 2; ++half) accumulate_half(from, half, total);
    int left, right;
    sum_by_side(total, left, right);
    return left + right;
  }

  // SATD of the four 8x8 blocks.
  void satd_of_blocks(core::MotionVector v, int (&satd)[4]) const {
    const BlockSource from = block_source(chain, x, y, v);
    for (int half = 0; half < 2; ++half) {
      TwoUnsignedRows total{};
      accumulate_half(from, half, total);
      sum_by_side(total, satd[2 * half], satd[2 * half + 1]);
    }
  }

  int satd_of_block(int block, core::MotionVector v) const {
    const int bx = 8 * (block & 1), by = 8 * (block >> 1);
    const BlockSource from = block_source(chain, x + bx, y + by, v);
    Lanes row[4];
    for (int i = 0; i < 4; ++i) {
      ByteLanes predicted;
      predict_rows8(from, i, predicted);
      ByteLanes own;
      load_halves(plane().at(x + bx, y + by + i), plane().at(x + bx, y + by + i + 4), own);
      row[i] = __builtin_convertvector(own, Lanes) - __builtin_convertvector(predicted, Lanes);
    }
    UnsignedLanes total{};
    accumulate_satd(row, total);
    return sum(total);
  }

  int satd_of_partition(int partition, core::MotionVector v) const {
    if (partition == 0) return satd(v);
    int total = 0;
    for (int block = 0; block < 4; ++block) {
      if ((core::partition_blocks(partition) >> block & 1) != 0) total += satd_of_block(block, v);
    }
    return total;
  }
};

struct VectorRefinement {
  const RefinedMacroblock& mb;
  core::MotionVector predicted;
  bool partitions;
  core::RefinedVector best[core::kPartitions];

  VectorRefinement(const RefinedMacroblock& macroblock, core::MotionVector prediction, bool all_partitions)
      : mb(macroblock), predicted(prediction), partitions(all_partitions) {}

  int bits_cost(core::MotionVector v) const { return mb.lambda * core::mvd_bits(v - predicted); }

  void try_everywhere(core::MotionVector wanted) {
    const core::MotionVector v = mb.limits.clamp(wanted.x, wanted.y);
    const int cost = bits_cost(v);
    if (!partitions) return best[0].take(v, mb.satd(v), cost);
    int satd[4];
    mb.satd_of_blocks(v, satd);
    for (int i = 0; i < core::kPartitions; ++i) {
      best[i].take(v, core::satd_of(core::partition_blocks(i), satd), cost);
    }
  }
  void try_block(int block, core::MotionVector wanted) {
    const core::MotionVector v = mb.limits.clamp(wanted.x, wanted.y);
    best[core::kBlockPartitions + block].take(v, mb.satd_of_block(block, v), bits_cost(v));
  }
  // A half may move as either of its blocks does.
  void try_halves() {
    for (int half = 1; half < core::kBlockPartitions; ++half) {
      for (int block = 0; block < 4; ++block) {
        if ((core::partition_blocks(half) >> block & 1) == 0) continue;
        const core::MotionVector v = best[core::kBlockPartitions + block].vector;
        best[half].take(v, mb.satd_of_partition(half, v), bits_cost(v));
      }
    }
  }

  void run(core::MotionVector whole, const core::MotionVector* blocks) {
    const core::MotionVector start = core::from_whole_samples(whole);
    try_everywhere(start);
    for (int i = 0; i < 8; ++i) try_everywhere(core::around(start, i, core::kHalfSampleStep));
    const core::MotionVector centre = best[0].vector;
    for (int i = 0; i < 8; ++i) try_everywhere(core::around(centre, i, core::kQuarterSampleStep));
    if (!partitions) return;
    for (int block = 0; block < 4; ++block) {
      const core::MotionVector own = core::from_whole_samples(blocks[block]);
      if (core::block_tries_own(own, start)) {
        try_block(block, own);
        for (int i = 0; i < 8; ++i) try_block(block, core::around(own, i, core::kHalfSampleStep));
      }
      const core::MotionVector best_half = best[core::kBlockPartitions + block].vector;
      if (!core::block_tries_quarters(best_half, centre)) continue;
      for (int i = 0; i < 8; ++i) try_block(block, core::around(best_half, i, core::kQuarterSampleStep));
    }
    try_halves();
  }
};

static inline core::MotionPlace place_of(const GopChain& chain, int mb_x, bool above) {
  return core::motion_place(mb_x, above, chain.mb_width);
}

// `above`: the row above is in the slice.
static inline void refine_row(GopChain& chain, int lambda, bool partitions, bool above, int mb_y) {
  for (int mb_x = 0; mb_x < chain.mb_width; ++mb_x) {
    const std::size_t mb = static_cast<std::size_t>(mb_y) * chain.mb_width + mb_x;
    const core::MotionVector* const whole = chain.whole[1].data() + mb;
    const auto field = [whole](int offset, int) -> core::MotionNeighbour {
      return {true, true, core::from_whole_samples(whole[offset])};
    };
    const core::MotionNeighbours neighbours =
        core::motion_neighbours(place_of(chain, mb_x, above), 0, 2, field);
    const RefinedMacroblock macroblock(chain, mb_x, mb_y, lambda);
    VectorRefinement refinement(macroblock, core::median_prediction(neighbours), partitions);
    refinement.run(*whole, chain.blocks.data() + 4 * mb);
    PartitionVectors& refined = chain.refined[mb];
    for (int i = 0; i < core::kPartitions; ++i)
      refined.vector[i] = refinement.best[i].vector, refined.satd[i] = refinement.best[i].satd;
    // What the neighbours see at first.
    for (core::MotionVector& v : chain.fields[0][mb].vector) v = refined.vector[0];
    chain.choices[mb] = {};
  }
}

// Measures what the merge passes offer (core/motion_merge.h).
struct SatdOfPartition {
  const RefinedMacroblock& mb;

  int operator()(int partition, core::MotionVector v, bool wanted) const {
    return wanted ? mb.satd_of_partition(partition, v) : 0;
  }
};

// A pass that chooses vectors and partitions anew, with the vectors of the pass before around.
static inline void merge_row(GopChain& chain, int lambda, bool partitions, int pass, bool above, int mb_y) {
  for (int mb_x = 0; mb_x < chain.mb_width; ++mb_x) {
    const std::size_t mb = static_cast<std::size_t>(mb_y) * chain.mb_width + mb_x;
    const core::MotionPlace place = place_of(chain, mb_x, above);
    const core::MotionRecord* const field = chain.fields[pass].data() + mb;
    const RefinedMacroblock macroblock(chain, mb_x, mb_y, lambda);
    const SatdOfPartition measure{macroblock};
    const core::InterTrial best = core::choose_inter_kind(measure, place, field, chain.refined[mb],
                                                          partitions, macroblock.limits, lambda);
    chain.choices[mb] = choice_of(best);
    chain.fields[pass ^ 1][mb] = motion_of(best);
  }
}

}  // namespace cu264::encoder::CU264_ISA
