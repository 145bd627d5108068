// The loop filter over an I picture, whose edges have one strength all along.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/deblock.h"
#include "core/quant.h"
#include "encoder/cpu_picture.h"
#include "encoder/edge_filter_inl.h"

namespace cu264::encoder::CU264_ISA {

// Filters the edges of one direction in a macroblock: with `outer` the edge that it shares with its neighbour
// (bS 4), with `inner` the others (bS 3), which are `distance` samples apart.
template <int kSize, bool kChroma>
static inline void filter_edges(std::uint8_t* first, std::ptrdiff_t across, const core::EdgeThresholds& outer,
                                const core::EdgeThresholds& inner, int distance) {
  if (outer.active()) filter_edge<kSize, kChroma, true>(first, across, [&](int) { return outer; });
  if (!inner.active()) return;
  for (int offset = distance; offset < kSize; offset += distance) {
    filter_edge<kSize, kChroma, false>(first + offset * across, across, [&](int) { return inner; });
  }
}

struct MacroblockEdges {
  core::EdgeThresholds left, top, inner;  // left and top are inactive at the picture's border
  int distance = 4;                       // of inner edges, which lie between transform blocks
};

// One plane of one macroblock: vertical edges from left to right, then horizontal ones from top to bottom
// (H.264 8.7).
template <int kSize, bool kChroma>
static inline void filter_macroblock(std::uint8_t* samples, std::ptrdiff_t pitch,
                                     const MacroblockEdges& edges) {
  if (edges.left.active() || edges.inner.active()) {
    filter_turned<kSize, kChroma>(samples, pitch, edges.left.active(), [&](std::uint8_t* first) {
      filter_edges<kSize, kChroma>(first, kSize, edges.left, edges.inner, edges.distance);
    });
  }
  filter_edges<kSize, kChroma>(samples, pitch, edges.top, edges.inner, edges.distance);
}

static inline void filter_i_macroblock(CpuPicture& picture, int x, int y,
                                       const core::FilterOffsets& offsets) {
  const auto thresholds = [&](int qp_p, int qp_q, int bS) {
    return core::deblock_thresholds(qp_p, qp_q, offsets.a, offsets.b, bS);
  };
  const core::MacroblockRecord* mb = &picture.macroblocks[static_cast<std::size_t>(y) * picture.mb_width + x];
  const int qp = core::filter_qp(mb[0]);
  const int qp_left = x > 0 ? core::filter_qp(mb[-1]) : qp;
  const int qp_top = y > 0 ? core::filter_qp(mb[-picture.mb_width]) : qp;
  const auto edges_of = [&](auto plane_qp) {
    MacroblockEdges e;
    if (x > 0) e.left = thresholds(plane_qp(qp_left), plane_qp(qp), 4);
    if (y > 0) e.top = thresholds(plane_qp(qp_top), plane_qp(qp), 4);
    e.inner = thresholds(plane_qp(qp), plane_qp(qp), 3);
    return e;
  };
  Plane& luma = picture.reconstruction[0];
  MacroblockEdges luma_edges = edges_of([](int q) { return q; });
  if (mb->kind == core::MacroblockKind::intra8x8) luma_edges.distance = 8;
  filter_macroblock<16, false>(luma.row(16 * y) + 16 * x, luma.width, luma_edges);
  const MacroblockEdges chroma_edges = edges_of([](int q) { return core::chroma_qp(q); });
  for (int c = 1; c < 3; ++c) {
    Plane& chroma = picture.reconstruction[c];
    filter_macroblock<8, true>(chroma.row(8 * y) + 8 * x, chroma.width, chroma_edges);
  }
}

}  // namespace cu264::encoder::CU264_ISA
