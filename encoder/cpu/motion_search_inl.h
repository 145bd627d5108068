// The search for whole-sample vectors on the source pictures (core/motion_search.h), a row of blocks at a
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/bits.h"
#include "core/cost.h"
#include "core/motion_search.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu/lanes_inl.h"

namespace cu264::encoder::CU264_ISA {

template <int kWidth, int kHeight>
static inline int sum_of_differences(const std::uint8_t* a, std::ptrdiff_t a_pitch, const std::uint8_t* b,
                                     std::ptrdiff_t b_pitch) {
  DifferenceSum sum;
  for (int y = 0; y < kHeight; y += kWidth == 16 ? 1 : 2) {
    ByteLanes of_a, of_b;
    if constexpr (kWidth == 16) {
      load_bytes(a + y * a_pitch, of_a);
      load_bytes(b + y * b_pitch, of_b);
    } else {
      load_halves(a + y * a_pitch, a + (y + 1) * a_pitch, of_a);
      load_halves(b + y * b_pitch, b + (y + 1) * b_pitch, of_b);
    }
    sum.add(of_a, of_b);
  }
  return sum.total();
}

// Whether a vector must be measured: not if its bits alone cost too much, nor if it is the best one.
static inline bool may_win(core::MotionVector v, std::uint32_t bits_cost, const core::BestVector& best) {
  return bits_cost < best.cost && (best.cost == UINT32_MAX || !(v == best.vector));
}

// Half the samples of a plane in both directions, one row.
static inline void shrink_row(const PaddedPlane& from, PaddedPlane& to, int y) {
  const std::uint8_t *upper = from.at(0, 2 * y), *lower = from.at(0, 2 * y + 1);
  std::uint8_t* const out = to.at(0, y);
  for (int x = 0; x < to.width; ++x) {
    out[x] = static_cast<std::uint8_t>(
        core::shrunk_sample(upper[2 * x], upper[2 * x + 1], lower[2 * x], lower[2 * x + 1]));
  }
}

// The sums of the 4x4 blocks that begin in one row of a plane or its padding, at every sample.
static inline void sum_blocks_row(const PaddedPlane& plane, std::vector<std::uint16_t>& sums, int y) {
  constexpr int kMaxWidth = (8192 + 16) / 4 + 2 * core::kReferencePad;
  const auto pitch = static_cast<int>(plane.pitch);
  const std::uint8_t* const in = plane.at(-plane.pad, y);
  std::uint16_t* const out = sums.data() + (y + plane.pad) * plane.pitch;
  std::uint16_t columns[kMaxWidth];
  for (int x = 0; x < pitch; ++x) {
    columns[x] = static_cast<std::uint16_t>(in[x] + in[x + pitch] + in[x + 2 * pitch] + in[x + 3 * pitch]);
  }
  for (int x = 0; x + 3 < pitch; ++x) {
    out[x] = static_cast<std::uint16_t>(columns[x] + columns[x + 1] + columns[x + 2] + columns[x + 3]);
  }
}

// Finds the vectors in a row of an exhaustive search that are worth measuring. The difference of two blocks'
// sums is never greater than their SAD, so most vectors are excluded by the sums of the 4x4 blocks, sixteen
// at a time (successive elimination: Li and Salari 1995), and the best vector is the same.
class SumsOfRows {
 public:
  static constexpr int kVectors = 2 * core::kQuarterRange;

  SumsOfRows(const GopChain& chain, int lambda) : chain_(chain) {
    for (int i = 0; i < kVectors; ++i)
      cost_[i / 16][i % 16] = static_cast<std::int16_t>(lambda * core::se_length(i - core::kQuarterRange));
  }
  void begin_block(int x, int y) {
    x_ = x, y_ = y;
    for (int i = 0; i < 4; ++i) fill(*at(chain_.current, x + 4 * (i & 1), y + 4 * (i >> 1)), own_[i]);
  }
  // Calls visit(vx) for each vector whose SAD and horizontal bits may cost less than `limit`.
  template <class Visit>
  void for_each_below(int vy, std::uint32_t limit, const Visit& visit) const {
    Lanes most, below[kVectors / 16], any{};
    fill(static_cast<int>(std::min<std::uint32_t>(limit, INT16_MAX)), most);
    for (int half = 0; half < kVectors / 16; ++half) {
      Lanes bound = cost_[half];
      for (int i = 0; i < 4; ++i) {
        Lanes sums;
        const int x = x_ + 4 * (i & 1) - core::kQuarterRange + 16 * half;
        std::memcpy(&sums, at(chain_.current ^ 1, x, y_ + 4 * (i >> 1) + vy), sizeof sums);
        bound += core::absolute(sums - own_[i]);
      }
      below[half] = bound < most;
      any |= below[half];
    }
    if (is_zero(any)) return;
    for (int i = 0; i < kVectors; ++i) {
      if (below[i / 16][i % 16] != 0) visit(i - core::kQuarterRange);
    }
  }

 private:
  const std::uint16_t* at(int source, int x, int y) const {
    const PaddedPlane& plane = chain_.source[source][2];
    return chain_.sums[source].data() + (y + plane.pad) * plane.pitch + x + plane.pad;
  }

  const GopChain& chain_;
  int x_ = 0, y_ = 0;
  Lanes own_[4];               // of the block that is searched
  Lanes cost_[kVectors / 16];  // of the horizontal components
};

static inline void search_quarter_row(GopChain& chain, int lambda, int row) {
  const PaddedPlane& source = chain.source[chain.current][2];
  const PaddedPlane& before = chain.source[chain.current ^ 1][2];
  SumsOfRows rows(chain, lambda);
  core::MotionVector beside;
  const int y = core::kQuarterBlock * row;
  for (int column = 0; column < chain.region_width; ++column) {
    const int x = core::kQuarterBlock * column;
    const std::uint8_t* const block = source.at(x, y);
    const auto cost_of = [&](core::MotionVector v) {
      const int sad =
          sum_of_differences<8, 8>(block, source.pitch, before.at(x + v.x, y + v.y), before.pitch);
      return static_cast<std::uint32_t>(sad) + core::vector_cost(v, {}, 1, lambda);
    };
    core::BestVector best;
    // No motion comes first, and wins where others are as good.
    best.take(cost_of({}), {});
    // What costs more than the vector of the block beside is not the best.
    const std::uint32_t enough = cost_of(beside) + 1;
    rows.begin_block(x, y);
    for (int vy = -core::kQuarterRange; vy < core::kQuarterRange; ++vy) {
      const auto bits_cost = static_cast<std::uint32_t>(lambda * core::se_length(vy));
      const std::uint32_t limit = std::min(best.cost, enough);
      if (limit <= bits_cost) continue;
      rows.for_each_below(vy, limit - bits_cost, [&](int vx) {
        const core::MotionVector v = core::motion_vector(vx, vy);
        best.take(cost_of(v), v);
      });
    }
    beside = best.vector;
    chain.quarter[static_cast<std::size_t>(row) * chain.region_width + column] = best.vector;
  }
}

static inline core::MotionLimits macroblock_limits(const GopChain& chain, int mb_x, int mb_y) {
  return core::motion_limits(16 * mb_x, 16 * mb_y, 16, 16, 16 * chain.mb_width, 16 * chain.mb_height);
}

static inline void search_half_row(GopChain& chain, int lambda, int mb_y) {
  const PaddedPlane& source = chain.source[chain.current][1];
  const PaddedPlane& before = chain.source[chain.current ^ 1][1];
  for (int mb_x = 0; mb_x < chain.mb_width; ++mb_x) {
    const std::size_t mb = static_cast<std::size_t>(mb_y) * chain.mb_width + mb_x;
    const core::MotionLimits limits = macroblock_limits(chain, mb_x, mb_y);
    core::MotionVector candidates[core::kHalfCandidates];
    const auto regions = [&](int x, int y) {
      return chain.quarter[static_cast<std::size_t>(y) * chain.region_width + x];
    };
    for (int i = 0; i < core::kHalfCandidates; ++i) {
      candidates[i] = core::half_candidate(i, regions, chain.region_width, chain.region_height,
                                           chain.whole_before[mb], mb_x, mb_y, limits);
    }
    const core::MotionVector predicted = core::median(candidates[0], candidates[1], candidates[2]);
    const int x = 8 * mb_x, y = 8 * mb_y;
    core::BestVector best;
    const auto try_vector = [&](core::MotionVector v) {
      const std::uint32_t bits_cost = core::vector_cost(v, predicted, 2, lambda);
      if (!may_win(v, bits_cost, best)) return;
      const int sad =
          sum_of_differences<8, 8>(source.at(x, y), source.pitch, before.at(x + v.x, y + v.y), before.pitch);
      best.take(static_cast<std::uint32_t>(sad) + bits_cost, v);
    };
    for (const core::MotionVector v : candidates) try_vector(v);
    const core::MotionVector centre = best.vector;
    for (int i = 0; i < 8; ++i) {
      const core::MotionVector v = core::around(centre, i, 1);
      try_vector(core::clamp_whole(limits, v.x, v.y, 1));
    }
    chain.half[mb] = best.vector;
  }
}

// The vectors around a macroblock in the pass before, scaled to full size.
struct WholeField {
  const GopChain& chain;
  const core::MotionVector* from;
  int scale, mb_x, mb_y;

  core::MotionVector operator()(int dx, int dy) const {
    const int x = mb_x + dx, y = mb_y + dy;
    const bool there = x >= 0 && x < chain.mb_width && y >= 0 && y < chain.mb_height;
    const core::MotionVector v = from[(there ? y : mb_y) * chain.mb_width + (there ? x : mb_x)];
    return core::motion_vector(scale * v.x, scale * v.y);
  }
};

// `pass`: 0 or 1.
static inline void search_whole_row(GopChain& chain, int lambda, int pass, int mb_y) {
  const PaddedPlane& source = chain.source[chain.current][0];
  const PaddedPlane& before = chain.source[chain.current ^ 1][0];
  const std::vector<core::MotionVector>& from = pass == 0 ? chain.half : chain.whole[0];
  for (int mb_x = 0; mb_x < chain.mb_width; ++mb_x) {
    const std::size_t mb = static_cast<std::size_t>(mb_y) * chain.mb_width + mb_x;
    const core::MotionLimits limits = macroblock_limits(chain, mb_x, mb_y);
    const WholeField field{chain, from.data(), pass == 0 ? 2 : 1, mb_x, mb_y};
    core::MotionVector candidates[core::kWholeCandidates];
    for (int i = 0; i < core::kWholeCandidates; ++i) candidates[i] = core::whole_candidate(i, field, limits);
    const core::MotionVector predicted = core::median(candidates[1], candidates[2], candidates[3]);
    const int x = 16 * mb_x, y = 16 * mb_y;
    core::BestVector best;
    const auto try_vector = [&](core::MotionVector v) {
      const std::uint32_t bits_cost = core::vector_cost(v, predicted, 4, lambda);
      if (!may_win(v, bits_cost, best)) return;
      const int sad = sum_of_differences<16, 16>(source.at(x, y), source.pitch, before.at(x + v.x, y + v.y),
                                                 before.pitch);
      best.take(static_cast<std::uint32_t>(sad) + bits_cost, v);
    };
    for (const core::MotionVector v : candidates) try_vector(v);
    const core::MotionVector centre = best.vector;
    if (core::tries_around(pass, centre, candidates[0])) {
      for (int i = 0; i < 8; ++i) {
        const core::MotionVector v = core::around(centre, i, 1);
        try_vector(core::clamp_whole(limits, v.x, v.y, 0));
      }
    }
    chain.whole[pass][mb] = best.vector;
  }
}

// Vectors of 8x8 blocks, from those of their macroblock and its neighbours.
static inline void search_blocks_row(GopChain& chain, int lambda, int mb_y) {
  const PaddedPlane& source = chain.source[chain.current][0];
  const PaddedPlane& before = chain.source[chain.current ^ 1][0];
  for (int mb_x = 0; mb_x < chain.mb_width; ++mb_x) {
    const std::size_t mb = static_cast<std::size_t>(mb_y) * chain.mb_width + mb_x;
    const WholeField field{chain, chain.whole[1].data(), 1, mb_x, mb_y};
    for (int block = 0; block < 4; ++block) {
      const int x = 16 * mb_x + 8 * (block & 1), y = 16 * mb_y + 8 * (block >> 1);
      const core::MotionLimits limits =
          core::motion_limits(x, y, 8, 8, 16 * chain.mb_width, 16 * chain.mb_height);
      const core::MotionVector own = field(0, 0);
      core::BestVector best;
      const auto try_vector = [&](core::MotionVector v) {
        const std::uint32_t bits_cost = core::vector_cost(v, own, 4, lambda);
        if (!may_win(v, bits_cost, best)) return;
        const int sad = sum_of_differences<8, 8>(source.at(x, y), source.pitch, before.at(x + v.x, y + v.y),
                                                 before.pitch);
        best.take(static_cast<std::uint32_t>(sad) + bits_cost, v);
      };
      for (int i = 0; i < core::kBlockCandidates; ++i)
        try_vector(core::block_candidate(i, block, field, limits));
      for (int round = 0; round < core::kBlockRounds; ++round) {
        const core::MotionVector centre = best.vector;
        for (int i = 0; i < 8; ++i) {
          const core::MotionVector v = core::around(centre, i, 1);
          try_vector(core::clamp_whole(limits, v.x, v.y, 0));
        }
        if (best.vector == centre) break;
      }
      chain.blocks[4 * mb + static_cast<std::size_t>(block)] = best.vector;
    }
  }
}

}  // namespace cu264::encoder::CU264_ISA
