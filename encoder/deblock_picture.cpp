#include "encoder/deblock_picture.h"

#include <cstring>

#include "core/deblock.h"
#include "core/quant.h"

namespace cu264::encoder {
namespace {

using core::EdgeLine;
using core::EdgeThresholds;

// Samples on each side that an edge's filter reads.
constexpr int kReach[2] = {4, 2};  // luma, chroma

// Filters one edge of kSize lines that lie side by side in memory: q0 is the first line's q0, and `across`
// leads from a sample to the next one away from the edge. The lines are copied out, so that nothing aliases
// and the loop over them vectorises.
template <int kSize, bool kChroma, bool kStrong>
void filter_edge(std::uint8_t* q0, std::ptrdiff_t across, const EdgeThresholds& thresholds) {
  constexpr int reach = kReach[kChroma];
  std::uint8_t lines[2 * reach][kSize];
  for (int i = 0; i < 2 * reach; ++i) std::memcpy(lines[i], q0 + (i - reach) * across, kSize);
  const EdgeThresholds t = thresholds;
  for (int i = 0; i < kSize; ++i) {
    if constexpr (kChroma) {
      const EdgeLine s{0, 0, lines[0][i], lines[1][i], lines[2][i], lines[3][i], 0, 0};
      const EdgeLine r = kStrong ? core::deblock_strong_chroma(s, t) : core::deblock_normal(s, t, true);
      lines[1][i] = static_cast<std::uint8_t>(r.p0);
      lines[2][i] = static_cast<std::uint8_t>(r.q0);
    } else {
      const EdgeLine s{lines[0][i], lines[1][i], lines[2][i], lines[3][i],
                       lines[4][i], lines[5][i], lines[6][i], lines[7][i]};
      const EdgeLine r = kStrong ? core::deblock_strong_luma(s, t) : core::deblock_normal(s, t, false);
      lines[1][i] = static_cast<std::uint8_t>(r.p2);
      lines[2][i] = static_cast<std::uint8_t>(r.p1);
      lines[3][i] = static_cast<std::uint8_t>(r.p0);
      lines[4][i] = static_cast<std::uint8_t>(r.q0);
      lines[5][i] = static_cast<std::uint8_t>(r.q1);
      lines[6][i] = static_cast<std::uint8_t>(r.q2);
    }
  }
  for (int i = 1; i < 2 * reach - 1; ++i) std::memcpy(q0 + (i - reach) * across, lines[i], kSize);
}

// Filters the edges of one direction in a macroblock: with `outer` the edge that it shares with its neighbour
// (bS 4), with `inner` the others (bS 3), which are `distance` samples apart.
template <int kSize, bool kChroma>
void filter_edges(std::uint8_t* first, std::ptrdiff_t across, const EdgeThresholds& outer,
                  const EdgeThresholds& inner, int distance) {
  if (outer.active()) filter_edge<kSize, kChroma, true>(first, across, outer);
  if (!inner.active()) return;
  for (int offset = distance; offset < kSize; offset += distance) {
    filter_edge<kSize, kChroma, false>(first + offset * across, across, inner);
  }
}

struct MacroblockEdges {
  EdgeThresholds left, top, inner;  // left and top are inactive at the picture's border
  int distance = 4;                 // of inner edges, which lie between transform blocks
};

// One plane of one macroblock: vertical edges from left to right, then horizontal ones from top to bottom
// (H.264 8.7). Vertical edges are filtered in a transposed copy, where their lines lie side by side.
template <int kSize, bool kChroma>
void filter_macroblock(std::uint8_t* samples, std::ptrdiff_t pitch, const MacroblockEdges& edges) {
  if (edges.left.active() || edges.inner.active()) {
    constexpr int kBefore = kReach[kChroma];
    const int first = edges.left.active() ? 0 : kBefore;  // there are no samples outside the picture
    std::uint8_t turned[kBefore + kSize][kSize];
    for (int y = 0; y < kSize; ++y) {
      const std::uint8_t* row = samples + y * pitch;
      for (int x = first; x < kBefore + kSize; ++x) turned[x][y] = row[x - kBefore];
    }
    filter_edges<kSize, kChroma>(turned[kBefore], kSize, edges.left, edges.inner, edges.distance);
    for (int y = 0; y < kSize; ++y) {
      std::uint8_t* row = samples + y * pitch;
      for (int x = first; x < kBefore + kSize; ++x) row[x - kBefore] = turned[x][y];
    }
  }
  filter_edges<kSize, kChroma>(samples, pitch, edges.top, edges.inner, edges.distance);
}

// qPp of the filter: QP_Y, and 0 for I_PCM (H.264 8.7.2.2).
int filter_qp(const core::MacroblockRecord& mb) {
  return mb.kind == core::MacroblockKind::pcm ? 0 : mb.qp;
}

}  // namespace

void deblock_picture(CpuPicture& picture, int filter_offset_a, int filter_offset_b) {
  const auto thresholds = [&](int qp_p, int qp_q, int bS) {
    return core::deblock_thresholds(qp_p, qp_q, filter_offset_a, filter_offset_b, bS);
  };
  for (int y = 0; y < picture.mb_height; ++y) {
    for (int x = 0; x < picture.mb_width; ++x) {
      const core::MacroblockRecord* mb =
          &picture.macroblocks[static_cast<std::size_t>(y) * picture.mb_width + x];
      const int qp = filter_qp(mb[0]);
      const int qp_left = x > 0 ? filter_qp(mb[-1]) : qp;
      const int qp_top = y > 0 ? filter_qp(mb[-picture.mb_width]) : qp;
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
  }
}

}  // namespace cu264::encoder
