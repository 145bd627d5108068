// Binarisation of macroblock_layer of P slices (H.264 7.3.5, 9.3.2, 9.3.3.1.1) with one reference picture.
// Sinks are those of cabac_block.h.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cabac_macroblock.h"
#include "core/cabac_p_contexts.h"
#include "core/hd.h"
#include "core/motion_prediction.h"
#include "core/motion_vector.h"
#include "core/p_syntax.h"

namespace cu264::core {

// As cabac_neighbour, of a neighbour of an inter macroblock: without one, nothing is coded (9.3.3.1.1.9).
CU264_HD CabacNeighbour cabac_neighbour_of_inter(const MacroblockRecord* mb) {
  CabacNeighbour neighbour = cabac_neighbour(mb);
  if (mb == nullptr) neighbour.coded_blocks = 0;
  return neighbour;
}

CU264_HD CabacNeighbours cabac_p_neighbours(const MacroblockRecord& mb, const MacroblockRecord* left,
                                            const MacroblockRecord* above) {
  if (is_inter(mb.kind)) return {cabac_neighbour_of_inter(left), cabac_neighbour_of_inter(above)};
  return {cabac_neighbour(left), cabac_neighbour(above)};
}

// mb_skip_flag (9.3.3.1.1.1)
template <class Sink>
CU264_HD void put_cabac_skip_flag(Sink& sink, const MacroblockRecord& mb, const MacroblockRecord* left,
                                  const MacroblockRecord* above) {
  const auto is_coded = [](const MacroblockRecord* n) {
    return n != nullptr && n->kind != MacroblockKind::p_skip ? 1 : 0;
  };
  sink.decision(kCtxMbSkip + is_coded(left) + is_coded(above), mb.kind == MacroblockKind::p_skip ? 1 : 0);
}

// mb_type (tables 9-37 and 9-36): a prefix, and for I macroblocks a suffix, which shares a context with it.
template <class Sink>
CU264_HD void put_cabac_p_mb_type(Sink& sink, const MacroblockRecord& mb) {
  constexpr int kPrefix = kCtxPMbType, kSuffix = kCtxPMbType + 3;
  sink.decision(kPrefix, is_inter(mb.kind) ? 0 : 1);
  if (is_inter(mb.kind)) {
    const bool halves = mb.kind == MacroblockKind::p16x8 || mb.kind == MacroblockKind::p8x16;
    sink.decision(kPrefix + 1, halves ? 1 : 0);
    if (halves) {
      sink.decision(kPrefix + 3, mb.kind == MacroblockKind::p16x8 ? 1 : 0);
    } else {
      sink.decision(kPrefix + 2, mb.kind == MacroblockKind::p8x8 ? 1 : 0);
    }
    return;
  }
  put_cabac_mb_type(
      sink, mb,
      CabacIMbTypeContexts{kSuffix, kSuffix + 1, kSuffix + 2, kSuffix + 2, kSuffix + 3, kSuffix + 3});
}

// The prefix of mvd_l0 takes decisions up to this value; an Exp-Golomb code of order 3 has the rest
// (9.3.2.3).
inline constexpr int kMvdPrefix = 9;

// The context of a bin of the prefix. `sum` is that of the neighbours' absMvdComp (9.3.3.1.1.7).
CU264_HD int mvd_context(int component, int bin, int sum) {
  const int inc = bin == 0 ? (sum < 3 ? 0 : sum > 32 ? 2 : 1) : bin < 4 ? bin + 2 : 6;
  return kCtxMvd + kCtxMvdComponent * component + inc;
}

// A component of mvd_l0.
template <class Sink>
CU264_HD void put_cabac_mvd(Sink& sink, int value, int component, int sum) {
  const int magnitude = value < 0 ? -value : value;
  const int prefix = magnitude < kMvdPrefix ? magnitude : kMvdPrefix;
  for (int bin = 0; bin < prefix; ++bin) sink.decision(mvd_context(component, bin, sum), 1);
  if (magnitude < kMvdPrefix) {
    sink.decision(mvd_context(component, prefix, sum), 0);
  } else {
    // n ones, a zero and the 3 + n bits below the highest one of the suffix plus 8.
    const std::uint32_t suffix = static_cast<std::uint32_t>(magnitude - kMvdPrefix) + 8;
    const int n = highest_bit(suffix) - 3;
    sink.bypass(((1u << n) - 1) << (n + 4) | (suffix & ((8u << n) - 1)), 2 * n + 4);
  }
  if (magnitude != 0) sink.bypass(value < 0 ? 1 : 0, 1);
}

// absMvdComp of two neighbours. A null record stands for a macroblock that is not available.
struct MvdNeighbours {
  MotionVector a, b;

  CU264_HD_MEMBER int sum_x() const { return (a.x < 0 ? -a.x : a.x) + (b.x < 0 ? -b.x : b.x); }
  CU264_HD_MEMBER int sum_y() const { return (a.y < 0 ? -a.y : a.y) + (b.y < 0 ? -b.y : b.y); }
};

CU264_HD MvdNeighbours mvd_neighbours(const MotionRecord& motion, const MotionRecord* left,
                                      const MotionRecord* above, int block) {
  MvdNeighbours n;
  if ((block & 1) != 0) {
    n.a = motion.mvd[block - 1];
  } else if (left != nullptr) {
    n.a = left->mvd[block + 1];
  }
  if ((block & 2) != 0) {
    n.b = motion.mvd[block - 2];
  } else if (above != nullptr) {
    n.b = above->mvd[block + 2];
  }
  return n;
}

// What is next to a macroblock of a P slice; null where it is not available in the slice.
struct PNeighbours {
  const MacroblockRecord* left = nullptr;
  const MacroblockRecord* above = nullptr;
  const MotionRecord* left_motion = nullptr;
  const MotionRecord* above_motion = nullptr;
};

// Puts everything before the residual of a macroblock that is not P_Skip; only mb_type for I_PCM.
template <class Sink>
CU264_HD void put_cabac_p_header(Sink& sink, const MacroblockRecord& mb, const MotionRecord& motion,
                                 const PNeighbours& around, const CabacNeighbours& n, bool changed_before) {
  put_cabac_p_mb_type(sink, mb);
  if (!is_inter(mb.kind)) {
    return put_cabac_header_rest(sink, mb, around.left, around.above, n, changed_before);
  }
  if (mb.kind == MacroblockKind::p8x8) {
    for (int block = 0; block < 4; ++block) sink.decision(kCtxSubMbType, 1);  // P_L0_8x8
  }
  for_each_partition(mb.kind, [&](int block) {
    const MvdNeighbours mvds = mvd_neighbours(motion, around.left_motion, around.above_motion, block);
    put_cabac_mvd(sink, motion.mvd[block].x, 0, mvds.sum_x());
    put_cabac_mvd(sink, motion.mvd[block].y, 1, mvds.sum_y());
  });
  put_cabac_pattern(sink, mb.coded_block_pattern, n);
  if (inter_has_transform_size_flag(mb)) {
    sink.decision(transform_size_context(n), mb.inter_transform_8x8 ? 1 : 0);
  }
  if (has_mb_qp_delta(mb)) put_cabac_qp_delta(sink, mb.mb_qp_delta, changed_before);
}

}  // namespace cu264::core
