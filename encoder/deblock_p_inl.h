// The loop filter over a P picture, whose edges differ in strength along their lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/deblock.h"
#include "core/inter_strength.h"
#include "core/quant.h"
#include "encoder/cpu_picture.h"
#include "encoder/edge_filter_inl.h"

namespace cu264::encoder::CU264_ISA {

// bS of a macroblock's edges of one direction: [edge][block along it]. An edge of bS 4 has it all along.
using Strengths = std::uint8_t[4][4];

// A direction of a plane's edges: `outer_qp` is that of the neighbour, `qp` the macroblock's.
struct PlaneEdges {
  const Strengths& bS;
  int outer_qp, qp;
  core::FilterOffsets offsets;
  bool large_transform;
};

// Filters an edge of luma's numbering in luma or chroma.
template <int kSize, bool kChroma>
static inline void filter_mixed_edge(std::uint8_t* first, std::ptrdiff_t across, int edge,
                                     const PlaneEdges& e) {
  const std::uint8_t(&bS)[4] = e.bS[edge];
  if ((bS[0] | bS[1] | bS[2] | bS[3]) == 0) return;
  const auto thresholds = [&](int strength) {
    return core::deblock_thresholds(edge == 0 ? e.outer_qp : e.qp, e.qp, e.offsets.a, e.offsets.b, strength);
  };
  std::uint8_t* const q0 = first + (kChroma ? 2 : 4) * edge * across;
  if (bS[0] == 4) {
    const core::EdgeThresholds t = thresholds(4);
    if (t.active()) filter_edge<kSize, kChroma, true>(q0, across, [&](int) { return t; });
    return;
  }
  // Beta is the same all along, and where bS is 0 an alpha of 0 keeps the samples.
  int alpha[kSize], tc0[kSize], beta = 0;
  bool active = false;
  for (int block = 0; block < 4; ++block) {
    core::EdgeThresholds t;
    if (bS[block] != 0) t = thresholds(bS[block]), beta = t.beta;
    active = active || t.active();
    for (int i = 0; i < kSize / 4; ++i) {
      alpha[kSize / 4 * block + i] = t.alpha, tc0[kSize / 4 * block + i] = t.tc0;
    }
  }
  if (!active) return;
  filter_edge<kSize, kChroma, false>(q0, across, [&](int i) {
    return core::EdgeThresholds{alpha[i], beta, tc0[i]};
  });
}

// In 4:2:0 chroma has the edges 0 and 2 alone.
template <int kSize, bool kChroma>
static inline void filter_mixed_edges(std::uint8_t* first, std::ptrdiff_t across, bool outer,
                                      const PlaneEdges& e) {
  const int step = kChroma || e.large_transform ? 2 : 1;
  for (int edge = outer ? 0 : step; edge < 4; edge += step) {
    filter_mixed_edge<kSize, kChroma>(first, across, edge, e);
  }
}

template <int kSize, bool kChroma>
static inline void filter_mixed_macroblock(std::uint8_t* samples, std::ptrdiff_t pitch, bool left, bool above,
                                           const PlaneEdges& vertical, const PlaneEdges& horizontal) {
  constexpr Strengths kNone = {};
  if (std::memcmp(vertical.bS, kNone, sizeof kNone) != 0) {
    filter_turned<kSize, kChroma>(samples, pitch, left, [&](std::uint8_t* first) {
      filter_mixed_edges<kSize, kChroma>(first, kSize, left, vertical);
    });
  }
  filter_mixed_edges<kSize, kChroma>(samples, pitch, above, horizontal);
}

// Whether edges inside the macroblock may be filtered.
static inline bool has_inner_edges(const core::MacroblockRecord& mb, const core::MotionRecord& motion,
                                   const core::EdgeSide& side) {
  const bool one_vector = motion.vector[1] == motion.vector[0] && motion.vector[2] == motion.vector[0] &&
                          motion.vector[3] == motion.vector[0];
  return !core::is_inter(mb.kind) || !one_vector || side.coefficients != 0;
}

static inline void filter_p_macroblock(CpuPicture& picture, int x, int y,
                                       const core::FilterOffsets& offsets) {
  const std::size_t index = static_cast<std::size_t>(y) * picture.mb_width + x;
  const core::MacroblockRecord* const mb = &picture.macroblocks[index];
  const core::MotionRecord* const motion = &picture.motion[index];
  const core::EdgeSide here = core::edge_side(*mb, *motion);
  const int above = picture.mb_width;
  const core::EdgeSide beside = x > 0 ? core::edge_side(mb[-1], motion[-1]) : here;
  const core::EdgeSide over = y > 0 ? core::edge_side(mb[-above], motion[-above]) : here;
  Strengths vertical = {}, horizontal = {};
  for (int edge = 0; edge < (has_inner_edges(*mb, *motion, here) ? 4 : 1); ++edge) {
    for (int line = 0; line < 4; ++line) {
      vertical[edge][line] =
          static_cast<std::uint8_t>(core::edge_strength(edge == 0 ? beside : here, here, true, edge, line));
      horizontal[edge][line] =
          static_cast<std::uint8_t>(core::edge_strength(edge == 0 ? over : here, here, false, edge, line));
    }
  }
  const int qp = core::filter_qp(*mb);
  const int qp_left = x > 0 ? core::filter_qp(mb[-1]) : qp;
  const int qp_top = y > 0 ? core::filter_qp(mb[-above]) : qp;
  const auto edges = [&](const Strengths& bS, int outer_qp, int own_qp) {
    return PlaneEdges{bS, outer_qp, own_qp, offsets, core::has_large_transform(*mb)};
  };
  Plane& luma = picture.reconstruction[0];
  filter_mixed_macroblock<16, false>(luma.row(16 * y) + 16 * x, luma.width, x > 0, y > 0,
                                     edges(vertical, qp_left, qp), edges(horizontal, qp_top, qp));
  const int chroma_qp = core::chroma_qp(qp);
  for (int c = 1; c < 3; ++c) {
    Plane& chroma = picture.reconstruction[c];
    filter_mixed_macroblock<8, true>(chroma.row(8 * y) + 8 * x, chroma.width, x > 0, y > 0,
                                     edges(vertical, core::chroma_qp(qp_left), chroma_qp),
                                     edges(horizontal, core::chroma_qp(qp_top), chroma_qp));
  }
}

}  // namespace cu264::encoder::CU264_ISA
