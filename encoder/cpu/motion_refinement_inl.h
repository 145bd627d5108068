// Vectors at half and quarter samples of the reference picture, and the choice of partitions. The first pass
// refines the whole-sample vectors of a macroblock by itself; the others offer it what its neighbours
// predict.
#pragma once

#include <cstdint>

#include "core/cost.h"
#include "core/motion_prediction.h"
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

  RefinedMacroblock(const GopChain& c, int mb_x, int mb_y, int satd_lambda)
      : chain(c), x(16 * mb_x), y(16 * mb_y), lambda(satd_lambda), limits(macroblock_limits(c, mb_x, mb_y)) {}

  const PaddedPlane& source() const { return chain.source[chain.current][0]; }

  // SATD of the four 8x8 blocks.
  void satd_of_blocks(core::MotionVector v, int (&satd)[4]) const {
    const BlockSource from = block_source(chain, x, y, v);
    for (int half = 0; half < 2; ++half) {
      UnsignedLanes total{};
      for (int part = 0; part < 8; part += 4) {
        Lanes row[4];
        for (int i = 0; i < 4; ++i) {
          const int line = 8 * half + part + i;
          Lanes predicted;
          load_samples(source().at(x, y + line), row[i]);
          predict_row16(from, line, predicted);
          row[i] -= predicted;
        }
        accumulate_satd(row, total);
      }
      int left = 0, right = 0;
      for (int i = 0; i < 8; ++i) left += total[i], right += total[8 + i];
      satd[2 * half] = left, satd[2 * half + 1] = right;
    }
  }

  int satd_of_block(int block, core::MotionVector v) const {
    const int bx = x + 8 * (block & 1), by = y + 8 * (block >> 1);
    const BlockSource from = block_source(chain, bx, by, v);
    const BlockSource own = {source().at(bx, by), source().at(bx, by), source().pitch};
    Lanes row[4];
    for (int i = 0; i < 4; ++i) {
      Lanes predicted;
      predict_rows8(own, i, row[i]);
      predict_rows8(from, i, predicted);
      row[i] -= predicted;
    }
    UnsignedLanes total{};
    accumulate_satd(row, total);
    return sum(total);
  }

  int satd_of_partition(int partition, core::MotionVector v) const {
    int total = 0;
    if (partition == 0) {
      int satd[4];
      satd_of_blocks(v, satd);
      return satd[0] + satd[1] + satd[2] + satd[3];
    }
    for (int block = 0; block < 4; ++block) {
      if ((core::partition_blocks(partition) >> block & 1) != 0) total += satd_of_block(block, v);
    }
    return total;
  }
};

// The best vectors of all partitions so far.
struct BestVectors {
  std::int32_t cost[core::kPartitions];
  PartitionVectors found;

  BestVectors() {
    for (int i = 0; i < core::kPartitions; ++i) {
      cost[i] = INT32_MAX;
      found.vector[i] = {}, found.satd[i] = 0;
    }
  }
  void take(int partition, core::MotionVector v, int satd, int bits_cost) {
    if (satd + bits_cost >= cost[partition]) return;
    cost[partition] = satd + bits_cost;
    found.vector[partition] = v, found.satd[partition] = satd;
  }
};

struct VectorRefinement {
  const RefinedMacroblock& mb;
  core::MotionVector predicted;
  bool partitions;
  BestVectors best;

  int bits_cost(core::MotionVector v) const { return mb.lambda * core::mvd_bits(v - predicted); }

  void try_everywhere(core::MotionVector wanted) {
    const core::MotionVector v = mb.limits.clamp(wanted.x, wanted.y);
    int satd[4];
    mb.satd_of_blocks(v, satd);
    const int cost = bits_cost(v);
    for (int i = 0; i < (partitions ? core::kPartitions : 1); ++i) {
      int total = 0;
      for (int block = 0; block < 4; ++block) {
        if ((core::partition_blocks(i) >> block & 1) != 0) total += satd[block];
      }
      best.take(i, v, total, cost);
    }
  }
  void try_block(int block, core::MotionVector wanted) {
    const core::MotionVector v = mb.limits.clamp(wanted.x, wanted.y);
    best.take(5 + block, v, mb.satd_of_block(block, v), bits_cost(v));
  }
  // A half may move as either of its blocks does.
  void try_halves() {
    for (int half = 1; half < 5; ++half) {
      for (int block = 0; block < 4; ++block) {
        if ((core::partition_blocks(half) >> block & 1) == 0) continue;
        const core::MotionVector v = best.found.vector[5 + block];
        best.take(half, v, mb.satd_of_partition(half, v), bits_cost(v));
      }
    }
  }

  void run(core::MotionVector whole, const core::MotionVector* blocks) {
    const core::MotionVector start = core::motion_vector(4 * whole.x, 4 * whole.y);
    try_everywhere(start);
    for (int i = 0; i < 8; ++i) try_everywhere(core::around(start, i, 2));
    const core::MotionVector centre = best.found.vector[0];
    for (int i = 0; i < 8; ++i) try_everywhere(core::around(centre, i, 1));
    if (!partitions) return;
    for (int block = 0; block < 4; ++block) {
      const core::MotionVector own = core::motion_vector(4 * blocks[block].x, 4 * blocks[block].y);
      if (!(own == start)) {
        try_block(block, own);
        for (int i = 0; i < 8; ++i) try_block(block, core::around(own, i, 2));
      }
      const core::MotionVector best_half = best.found.vector[5 + block];
      if (best_half == centre) continue;
      for (int i = 0; i < 8; ++i) try_block(block, core::around(best_half, i, 1));
    }
    try_halves();
  }
};

// The vectors of a pass, all macroblocks being inter.
struct InterField {
  const core::MotionRecord* here;

  core::MotionNeighbour operator()(int offset, int block) const {
    return {true, true, here[offset].vector[block]};
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
      return {true, true, core::motion_vector(4 * whole[offset].x, 4 * whole[offset].y)};
    };
    const RefinedMacroblock macroblock(chain, mb_x, mb_y, lambda);
    VectorRefinement refinement{
        macroblock,
        core::median_prediction(core::motion_neighbours(place_of(chain, mb_x, above), 0, 2, field)),
        partitions,
        {}};
    refinement.run(*whole, chain.blocks.data() + 4 * mb);
    chain.refined[mb] = refinement.best.found;
    // What the neighbours see at first.
    for (core::MotionVector& v : chain.fields[0][mb].vector) v = refinement.best.found.vector[0];
    chain.choices[mb] = {};
  }
}

// The vectors and the cost of one kind, given the neighbours' vectors.
struct KindTrial {
  core::MotionVector vector[4];
  std::int32_t satd = 0, bits = 0;
  bool skips = false;
};

static inline KindTrial try_kind(const RefinedMacroblock& macroblock, const core::MotionPlace& place,
                                 const core::MotionRecord* field, const PartitionVectors& refined,
                                 core::MacroblockKind kind) {
  KindTrial trial;
  trial.bits = core::inter_type_bits(kind);
  const auto neighbours_of = [&](int block, int width) {
    return core::motion_neighbours(place, block, width, [&](int offset, int b) -> core::MotionNeighbour {
      return {true, true, offset == 0 ? trial.vector[b] : field[offset].vector[b]};
    });
  };
  core::for_each_partition(kind, [&](int block) {
    const int partition = core::partition_index(kind, block);
    const core::MotionNeighbours n = neighbours_of(block, core::partition_width(kind));
    const core::MotionVector predicted = core::predicted_vector(n, kind, block);
    core::MotionVector best = refined.vector[partition];
    int satd = refined.satd[partition], bits = core::mvd_bits(best - predicted);
    const auto offer = [&](core::MotionVector v, int v_bits) {
      if (v == best || !macroblock.limits.allow(v)) return;
      const int v_satd = macroblock.satd_of_partition(partition, v);
      if (v_satd + macroblock.lambda * v_bits > satd + macroblock.lambda * bits) return;
      best = v, satd = v_satd, bits = v_bits;
    };
    offer(predicted, 2);
    if (kind == core::MacroblockKind::p16x16) {
      const core::MotionVector skip = core::skip_vector(n);
      offer(skip, skip == predicted ? 1 : core::mvd_bits(skip - predicted));
      trial.skips = best == skip;
      if (trial.skips) bits = 0;
    }
    core::set_partition(trial.vector, partition, best);
    trial.satd += satd, trial.bits += bits;
  });
  return trial;
}

// A pass that chooses vectors and partitions anew, with the vectors of the pass before around.
static inline void merge_row(GopChain& chain, int lambda, bool partitions, int pass, bool above, int mb_y) {
  for (int mb_x = 0; mb_x < chain.mb_width; ++mb_x) {
    const std::size_t mb = static_cast<std::size_t>(mb_y) * chain.mb_width + mb_x;
    const core::MotionPlace place = place_of(chain, mb_x, above);
    const core::MotionRecord* const field = chain.fields[pass].data() + mb;
    const RefinedMacroblock macroblock(chain, mb_x, mb_y, lambda);
    InterChoice choice;
    core::MotionRecord motion;
    std::int32_t best = INT32_MAX;
    for (int i = 0; i < (partitions ? core::kPartitionKinds : 1); ++i) {
      const core::MacroblockKind kind = core::kind_of_partitions(i);
      const KindTrial trial = try_kind(macroblock, place, field, chain.refined[mb], kind);
      const std::int32_t cost = trial.satd + lambda * trial.bits;
      if (cost >= best) continue;
      best = cost;
      choice.kind = kind, choice.skips = trial.skips, choice.bits = trial.bits, choice.satd = trial.satd;
      for (int block = 0; block < 4; ++block) motion.vector[block] = trial.vector[block];
    }
    chain.choices[mb] = choice;
    chain.fields[pass ^ 1][mb] = motion;
  }
}

}  // namespace cu264::encoder::CU264_ISA
