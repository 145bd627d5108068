// What the loop filter has to know of a macroblock's edges, as a warp makes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/warp.cuh"
#include "core/deblock.h"
#include "core/inter_strength.h"
#include "core/quant.h"
#include "encoder/cuda/batch.h"

namespace cu264::encoder::cuda {

struct alignas(16) EdgeRecord {
  // bS by direction (vertical edges first) and by 4x4 block along the edge: four bits for each of the four
  // edges, the outer one lowest. An edge that is not filtered has 0.
  std::uint16_t strengths[2][4];
  // By luma and chroma; of the left, the upper and the inner edges.
  core::PackedThresholds thresholds[2][3];
  std::uint32_t unused[2];
};
static_assert(sizeof(EdgeRecord) == 48, "an edge record is three 16-byte transactions");

struct MacroblockAt {
  const BatchView& batch;
  int picture, x, y;

  __device__ std::size_t index() const {
    return static_cast<std::size_t>(picture) * batch.macroblocks_per_picture() +
           static_cast<std::size_t>(y) * batch.mb_width + x;
  }
};

// The thresholds of one plane's (0 luma, 1 chroma) left (0), upper (1) or inner (2) edges.
__device__ inline core::PackedThresholds thresholds_of(const MacroblockAt& mb, int plane, int which) {
  const core::MacroblockRecord* const here = mb.batch.macroblocks + mb.index();
  const core::MacroblockRecord* beside = here;
  if (which == 0 && mb.x > 0) beside = here - 1;
  if (which == 1 && mb.y > 0) beside = here - mb.batch.mb_width;
  int p = core::filter_qp(*beside), q = core::filter_qp(*here);
  if (plane != 0) p = core::chroma_qp(p), q = core::chroma_qp(q);
  const core::FilterOffsets offsets = core::filter_offsets(mb.batch.params[mb.picture].key);
  return core::packed_thresholds(p, q, offsets.a, offsets.b);
}

// bS of one 4x4 block's share of an edge, 0 where there is none: at the border of the picture, and inside a
// block of the 8x8 transform.
__device__ inline int strength_of(const MacroblockAt& mb, bool vertical, int edge, int line) {
  const std::size_t here = mb.index();
  const core::MacroblockRecord& q = mb.batch.macroblocks[here];
  std::size_t beside = here;
  if (edge == 0) {
    if ((vertical ? mb.x : mb.y) == 0) return 0;
    beside -= static_cast<std::size_t>(vertical ? 1 : mb.batch.mb_width);
  } else if ((edge & 1) != 0 && core::has_large_transform(q)) {
    return 0;
  }
  const core::MotionRecord* const motion = mb.batch.motion;
  return core::edge_strength(core::edge_side(mb.batch.macroblocks[beside], motion[beside]),
                             core::edge_side(q, motion[here]), vertical, edge, line);
}

// Each lane finds one of the 32 strengths, and six of them the thresholds.
__device__ inline void make_edge_record(const MacroblockAt& mb, int lane, EdgeRecord& record) {
  core::PackedThresholds thresholds;
  if (lane < 6) thresholds = thresholds_of(mb, lane / 3, lane % 3);
  const unsigned active = __ballot_sync(kAllLanes, lane < 6 && thresholds.at(1).active());
  const int direction = lane >> 4, line = lane >> 2 & 3, edge = lane & 3;
  const int which = edge == 0 ? direction : 2;
  unsigned strengths = 0;
  if (((active >> which | active >> (3 + which)) & 1) != 0) {
    strengths = static_cast<unsigned>(strength_of(mb, direction == 0, edge, line)) << (4 * edge);
  }
  strengths |= __shfl_xor_sync(kAllLanes, strengths, 1);
  strengths |= __shfl_xor_sync(kAllLanes, strengths, 2);
  if (edge == 0) record.strengths[direction][line] = static_cast<std::uint16_t>(strengths);
  if (lane < 6) record.thresholds[lane / 3][lane % 3] = thresholds;
}

}  // namespace cu264::encoder::cuda
