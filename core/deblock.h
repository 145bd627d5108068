// The loop filter's arithmetic (H.264 8.7): thresholds of an edge, and one line of samples across it. The
// filters have no branches, so a loop over the lines of an edge vectorises and a warp does not diverge. Where
// filtering is off, they return the samples unchanged.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/slice_header.h"

namespace cu264::core {

// Samples across an edge, which lies between p0 and q0.
struct EdgeLine {
  int p3, p2, p1, p0, q0, q1, q2, q3;
};

struct EdgeThresholds {
  int alpha = 0;
  int beta = 0;
  int tc0 = 0;
  // With alpha or beta 0 no sample passes the test of 8.7.2.2.
  CU264_HD_MEMBER bool active() const { return alpha != 0 && beta != 0; }
};

// alpha' by indexA 0..51 (H.264 table 8-16)
CU264_HD int deblock_alpha(int indexA) {
  static constexpr std::uint8_t from16[36] = {4,  4,  5,   6,   7,   8,   9,   10,  12,  13,  15,  17,
                                              20, 22, 25,  28,  32,  36,  40,  45,  50,  56,  63,  71,
                                              80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255};
  return indexA < 16 ? 0 : from16[indexA - 16];
}

// beta' by indexB 0..51 (H.264 table 8-16)
CU264_HD int deblock_beta(int indexB) {
  static constexpr std::uint8_t from16[36] = {2,  2,  2,  3,  3,  3,  3,  4,  4,  4,  6,  6,
                                              7,  7,  8,  8,  9,  9,  10, 10, 11, 11, 12, 12,
                                              13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18};
  return indexB < 16 ? 0 : from16[indexB - 16];
}

// t'C0 by indexA 0..51 and bS 1..3 (H.264 table 8-17)
CU264_HD int deblock_tc0(int indexA, int bS) {
  static constexpr std::uint8_t from17[35][3] = {
      {0, 0, 1},  {0, 0, 1},   {0, 0, 1},   {0, 0, 1},   {0, 1, 1},    {0, 1, 1},    {1, 1, 1},
      {1, 1, 1},  {1, 1, 1},   {1, 1, 1},   {1, 1, 2},   {1, 1, 2},    {1, 1, 2},    {1, 1, 2},
      {1, 2, 3},  {1, 2, 3},   {2, 2, 3},   {2, 2, 4},   {2, 3, 4},    {2, 3, 4},    {3, 3, 5},
      {3, 4, 6},  {3, 4, 6},   {4, 5, 7},   {4, 5, 8},   {4, 6, 9},    {5, 7, 10},   {6, 8, 11},
      {6, 8, 13}, {7, 10, 14}, {8, 11, 16}, {9, 12, 18}, {10, 13, 20}, {11, 15, 23}, {13, 17, 25}};
  return indexA < 17 ? 0 : from17[indexA - 17][bS - 1];
}

CU264_HD int deblock_clip(int low, int high, int value) {
  return value < low ? low : value > high ? high : value;
}

CU264_HD int deblock_distance(int a, int b) {
  return a < b ? b - a : a - b;
}

// Thresholds of the edge between samples quantised with qp_p and qp_q: both QP_Y or both QP_C, with 0 for
// QP_Y of I_PCM (H.264 8.7.2.2). There is no tC0 for bS 4; it stays 0.
CU264_HD EdgeThresholds deblock_thresholds(int qp_p, int qp_q, int filterOffsetA, int filterOffsetB, int bS) {
  const int qp_average = (qp_p + qp_q + 1) >> 1;
  const int indexA = deblock_clip(0, 51, qp_average + filterOffsetA);
  EdgeThresholds t;
  t.alpha = deblock_alpha(indexA);
  t.beta = deblock_beta(deblock_clip(0, 51, qp_average + filterOffsetB));
  t.tc0 = bS < 4 ? deblock_tc0(indexA, bS) : 0;
  return t;
}

// The thresholds of an edge for all bS, in one word for kernels: alpha in 8 bits, beta in 5, and tC0 of bS 1
// to 3 in 5 each, from the lowest on.
struct PackedThresholds {
  std::uint32_t word = 0;

  // For bS 0 they are inactive.
  CU264_HD_MEMBER EdgeThresholds at(int bS) const {
    EdgeThresholds t;
    t.alpha = bS != 0 ? static_cast<int>(word & 255) : 0;
    t.beta = static_cast<int>(word >> 8 & 31);
    t.tc0 = static_cast<int>(word >> (8 + 5 * bS) & 31);
    return t;
  }
};

CU264_HD PackedThresholds packed_thresholds(int qp_p, int qp_q, int filterOffsetA, int filterOffsetB) {
  PackedThresholds packed;
  for (int bS = 1; bS < 4; ++bS) {
    const EdgeThresholds t = deblock_thresholds(qp_p, qp_q, filterOffsetA, filterOffsetB, bS);
    packed.word |= static_cast<std::uint32_t>(t.alpha | t.beta << 8 | t.tc0 << (8 + 5 * bS));
  }
  return packed;
}

// FilterOffsetA and FilterOffsetB of a picture's slices (H.264 7.4.3).
struct FilterOffsets {
  int a, b;
};
CU264_HD FilterOffsets filter_offsets(bool key) {
  return key ? FilterOffsets{2 * kSliceAlphaC0OffsetDiv2, 2 * kSliceBetaOffsetDiv2}
             : FilterOffsets{2 * kPSliceAlphaC0OffsetDiv2, 2 * kPSliceBetaOffsetDiv2};
}

// qPp of the filter: QP_Y, and 0 for I_PCM (H.264 8.7.2.2).
CU264_HD int filter_qp(const MacroblockRecord& mb) {
  return mb.kind == MacroblockKind::pcm ? 0 : mb.qp;
}

// Returns 0 or 1. Flags are numbers here, because "&&" would branch where "&" does not.
CU264_HD int deblock_near(int a, int b, int threshold) {
  return deblock_distance(a, b) < threshold ? 1 : 0;
}

// filterSamplesFlag for bS > 0 (H.264 8.7.2.2).
CU264_HD int deblock_filters(const EdgeLine& s, const EdgeThresholds& t) {
  return deblock_near(s.p0, s.q0, t.alpha) & deblock_near(s.p1, s.p0, t.beta) &
         deblock_near(s.q1, s.q0, t.beta);
}

// bS < 4 (H.264 8.7.2.3). In chroma only p0 and q0 change.
CU264_HD EdgeLine deblock_normal(EdgeLine s, const EdgeThresholds& t, bool chroma) {
  const int on = deblock_filters(s, t);
  const int p_smooth = deblock_near(s.p2, s.p0, t.beta);
  const int q_smooth = deblock_near(s.q2, s.q0, t.beta);
  const int tc = chroma ? t.tc0 + 1 : t.tc0 + p_smooth + q_smooth;
  const int delta = deblock_clip(-tc, tc, (4 * (s.q0 - s.p0) + (s.p1 - s.q1) + 4) >> 3);
  const int middle = (s.p0 + s.q0 + 1) >> 1;
  EdgeLine r = s;
  r.p0 = on ? deblock_clip(0, 255, s.p0 + delta) : s.p0;
  r.q0 = on ? deblock_clip(0, 255, s.q0 - delta) : s.q0;
  if (!chroma) {
    const int p_change = deblock_clip(-t.tc0, t.tc0, (s.p2 + middle - 2 * s.p1) >> 1);
    const int q_change = deblock_clip(-t.tc0, t.tc0, (s.q2 + middle - 2 * s.q1) >> 1);
    r.p1 = (on & p_smooth) ? s.p1 + p_change : s.p1;
    r.q1 = (on & q_smooth) ? s.q1 + q_change : s.q1;
  }
  return r;
}

// bS 4 (H.264 8.7.2.4). In chroma only p0 and q0 change.
CU264_HD EdgeLine deblock_strong(EdgeLine s, const EdgeThresholds& t, bool chroma) {
  const int on = deblock_filters(s, t);
  const int small_gap = chroma ? 0 : deblock_near(s.p0, s.q0, (t.alpha >> 2) + 2);
  const int p_strong = on & small_gap & deblock_near(s.p2, s.p0, t.beta);
  const int q_strong = on & small_gap & deblock_near(s.q2, s.q0, t.beta);
  const int p_weak = (2 * s.p1 + s.p0 + s.q1 + 2) >> 2;
  const int q_weak = (2 * s.q1 + s.q0 + s.p1 + 2) >> 2;
  EdgeLine r = s;
  r.p0 = p_strong ? (s.p2 + 2 * s.p1 + 2 * s.p0 + 2 * s.q0 + s.q1 + 4) >> 3 : on ? p_weak : s.p0;
  r.p1 = p_strong ? (s.p2 + s.p1 + s.p0 + s.q0 + 2) >> 2 : s.p1;
  r.p2 = p_strong ? (2 * s.p3 + 3 * s.p2 + s.p1 + s.p0 + s.q0 + 4) >> 3 : s.p2;
  r.q0 = q_strong ? (s.p1 + 2 * s.p0 + 2 * s.q0 + 2 * s.q1 + s.q2 + 4) >> 3 : on ? q_weak : s.q0;
  r.q1 = q_strong ? (s.p0 + s.q0 + s.q1 + s.q2 + 2) >> 2 : s.q1;
  r.q2 = q_strong ? (2 * s.q3 + 3 * s.q2 + s.q1 + s.q0 + s.p0 + 4) >> 3 : s.q2;
  return r;
}

}  // namespace cu264::core
