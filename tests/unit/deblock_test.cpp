// The loop filter agrees with a reference written sample by sample from H.264 8.7, with its own copy of the
// tables.
#include "core/deblock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "encoder/deblock_picture.h"

namespace {

using cu264::core::MacroblockKind;
using cu264::encoder::CpuPicture;
using cu264::encoder::Plane;

// Tables 8-16 and 8-17 column by column, from index 0.
const std::vector<int> kAlpha = {0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                 0,  0,  0,  4,   4,   5,   6,   7,   8,   9,   10,  12,  13,
                                 15, 17, 20, 22,  25,  28,  32,  36,  40,  45,  50,  56,  63,
                                 71, 80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255};
const std::vector<int> kBeta = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 2,  2,
                                2,  3,  3,  3,  3,  4,  4,  4,  6,  6,  7,  7,  8,  8,  9,  9, 10, 10,
                                11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18};
const std::vector<int> kTc0[3] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,  1,  1,
     1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 13},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  1,  1,  1,  1,  1,
     1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 10, 11, 12, 13, 15, 17},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,  1,  1,  1,  1,  1,  1,  1,  1,
     1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 23, 25}};
const std::vector<int> kChromaQp = {29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36,
                                    36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39};

int clip3(int low, int high, int v) {
  return std::min(high, std::max(low, v));
}

// 8.7.2 for one line across an edge, with p[0] and q[0] next to it; `at` gives access to the plane.
void reference_line(const std::function<std::uint8_t&(int)>& at, bool chroma, int bS, int indexA,
                    int indexB) {
  int p[4];
  int q[4];
  const int reach = chroma ? 2 : 4;
  for (int i = 0; i < reach; ++i) p[i] = at(-1 - i), q[i] = at(i);
  const int alpha = kAlpha[indexA];
  const int beta = kBeta[indexB];
  if (std::abs(p[0] - q[0]) >= alpha || std::abs(p[1] - p[0]) >= beta || std::abs(q[1] - q[0]) >= beta)
    return;
  const bool ap = !chroma && std::abs(p[2] - p[0]) < beta;
  const bool aq = !chroma && std::abs(q[2] - q[0]) < beta;
  if (bS < 4) {
    const int tc0 = kTc0[bS - 1][indexA];
    const int tc = chroma ? tc0 + 1 : tc0 + (ap ? 1 : 0) + (aq ? 1 : 0);
    const int delta = clip3(-tc, tc, (((q[0] - p[0]) * 4) + (p[1] - q[1]) + 4) >> 3);
    at(-1) = static_cast<std::uint8_t>(clip3(0, 255, p[0] + delta));
    at(0) = static_cast<std::uint8_t>(clip3(0, 255, q[0] - delta));
    if (ap)
      at(-2) = static_cast<std::uint8_t>(p[1] +
                                         clip3(-tc0, tc0, (p[2] + ((p[0] + q[0] + 1) >> 1) - p[1] * 2) >> 1));
    if (aq)
      at(1) = static_cast<std::uint8_t>(q[1] +
                                        clip3(-tc0, tc0, (q[2] + ((p[0] + q[0] + 1) >> 1) - q[1] * 2) >> 1));
    return;
  }
  const bool close = std::abs(p[0] - q[0]) < (alpha >> 2) + 2;
  if (ap && close) {
    at(-1) = static_cast<std::uint8_t>((p[2] + 2 * p[1] + 2 * p[0] + 2 * q[0] + q[1] + 4) >> 3);
    at(-2) = static_cast<std::uint8_t>((p[2] + p[1] + p[0] + q[0] + 2) >> 2);
    at(-3) = static_cast<std::uint8_t>((2 * p[3] + 3 * p[2] + p[1] + p[0] + q[0] + 4) >> 3);
  } else {
    at(-1) = static_cast<std::uint8_t>((2 * p[1] + p[0] + q[1] + 2) >> 2);
  }
  if (aq && close) {
    at(0) = static_cast<std::uint8_t>((p[1] + 2 * p[0] + 2 * q[0] + 2 * q[1] + q[2] + 4) >> 3);
    at(1) = static_cast<std::uint8_t>((p[0] + q[0] + q[1] + q[2] + 2) >> 2);
    at(2) = static_cast<std::uint8_t>((2 * q[3] + 3 * q[2] + q[1] + q[0] + p[0] + 4) >> 3);
  } else {
    at(0) = static_cast<std::uint8_t>((2 * q[1] + q[0] + p[1] + 2) >> 2);
  }
}

int reference_qp(const CpuPicture& picture, int mb, bool chroma) {
  const auto& record = picture.macroblocks[static_cast<std::size_t>(mb)];
  const int qp = record.kind == MacroblockKind::pcm ? 0 : record.qp;
  return chroma && qp >= 30 ? kChromaQp[static_cast<std::size_t>(qp - 30)] : qp;
}

// 8.7: macroblocks in raster order; in each, the vertical edges from the left, then the horizontal ones from
// the top.
void reference_picture(CpuPicture& picture, int offset_a, int offset_b) {
  for (int mb = 0; mb < picture.mb_width * picture.mb_height; ++mb) {
    const int mb_x = mb % picture.mb_width;
    const int mb_y = mb / picture.mb_width;
    for (int plane_index = 0; plane_index < 3; ++plane_index) {
      Plane& plane = picture.reconstruction[plane_index];
      const bool chroma = plane_index > 0;
      const int size = chroma ? 8 : 16;
      for (const bool vertical : {true, false}) {
        for (int edge = 0; edge < size; edge += 4) {
          if (edge == 0 && (vertical ? mb_x : mb_y) == 0) continue;
          // transform_size_8x8_flag: luma has no inner edges but those of 8x8 blocks
          const bool large =
              picture.macroblocks[static_cast<std::size_t>(mb)].kind == MacroblockKind::intra8x8;
          if (large && !chroma && edge % 8 != 0) continue;
          const int neighbour = edge > 0 ? mb : vertical ? mb - 1 : mb - picture.mb_width;
          const int average =
              (reference_qp(picture, mb, chroma) + reference_qp(picture, neighbour, chroma) + 1) >> 1;
          for (int line = 0; line < size; ++line) {
            const auto at = [&](int distance) -> std::uint8_t& {
              const int x = mb_x * size + (vertical ? edge + distance : line);
              const int y = mb_y * size + (vertical ? line : edge + distance);
              return plane.samples[static_cast<std::size_t>(y) * plane.width + x];
            };
            reference_line(at, chroma, edge == 0 ? 4 : 3, clip3(0, 51, average + offset_a),
                           clip3(0, 51, average + offset_b));
          }
        }
      }
    }
  }
}

// Contents by the amplitude of their steps: flat, soft enough for the filter to work, or wild.
CpuPicture make_picture(int mb_width, int mb_height, int amplitude, int qp_low, int qp_high, bool pcm,
                        std::mt19937& random) {
  CpuPicture picture;
  picture.resize(mb_width, mb_height, 1);
  for (auto& plane : picture.reconstruction) {
    std::uniform_int_distribution<int> base(0, 255);
    std::uniform_int_distribution<int> noise(-amplitude, amplitude);
    int level = base(random);
    for (std::size_t i = 0; i < plane.samples.size(); ++i) {
      if (i % 64 == 0 && amplitude > 30) level = base(random);
      plane.samples[i] = static_cast<std::uint8_t>(clip3(0, 255, level + noise(random)));
    }
  }
  for (auto& record : picture.macroblocks) {
    record.qp = static_cast<std::uint8_t>(std::uniform_int_distribution<int>(qp_low, qp_high)(random));
    record.kind = pcm && random() % 4 == 0 ? MacroblockKind::pcm
                  : random() % 2 == 0      ? MacroblockKind::intra8x8
                                           : MacroblockKind::intra4x4;
  }
  return picture;
}

// Describes the first sample that differs; empty if there is none.
std::string difference(const CpuPicture& a, const CpuPicture& b) {
  for (int c = 0; c < 3; ++c) {
    const Plane& p = a.reconstruction[c];
    const Plane& q = b.reconstruction[c];
    for (int y = 0; y < p.height; ++y) {
      for (int x = 0; x < p.width; ++x) {
        if (p.row(y)[x] == q.row(y)[x]) continue;
        return "plane " + std::to_string(c) + " at " + std::to_string(x) + "," + std::to_string(y) + ": " +
               std::to_string(p.row(y)[x]) + ", reference " + std::to_string(q.row(y)[x]);
      }
    }
  }
  return {};
}

TEST(Deblock, TablesEqualTheStandard) {
  for (int i = 0; i < 52; ++i) {
    EXPECT_EQ(cu264::core::deblock_alpha(i), kAlpha[i]) << "indexA " << i;
    EXPECT_EQ(cu264::core::deblock_beta(i), kBeta[i]) << "indexB " << i;
    for (int bS = 1; bS <= 3; ++bS)
      EXPECT_EQ(cu264::core::deblock_tc0(i, bS), kTc0[bS - 1][i]) << i << " bS " << bS;
  }
}

TEST(Deblock, PackedThresholdsAreThoseOfEachStrength) {
  for (int qp = 0; qp < 52; ++qp) {
    for (const auto& [a, b] : {std::pair{0, 0}, std::pair{12, -12}, std::pair{-6, 8}}) {
      const auto packed = cu264::core::packed_thresholds(qp, 51 - qp / 2, a, b);
      EXPECT_FALSE(packed.at(0).active());
      for (int bS = 1; bS <= 4; ++bS) {
        const auto expected = cu264::core::deblock_thresholds(qp, 51 - qp / 2, a, b, bS);
        EXPECT_EQ(packed.at(bS).alpha, expected.alpha) << "qp " << qp << " bS " << bS;
        EXPECT_EQ(packed.at(bS).beta, expected.beta) << "qp " << qp << " bS " << bS;
        EXPECT_EQ(packed.at(bS).tc0, expected.tc0) << "qp " << qp << " bS " << bS;
      }
    }
  }
}

// The edges of an intra picture have only bS 3 and 4; the line filter supports every bS.
TEST(Deblock, LineEqualsReferenceForEveryStrength) {
  std::mt19937 random(1);
  for (int bS = 1; bS <= 4; ++bS) {
    for (int qp = 0; qp < 52; ++qp) {
      for (int trial = 0; trial < 400; ++trial) {
        std::uint8_t line[8];
        const int base = static_cast<int>(random() % 256);
        const int spread = 1 + static_cast<int>(random() % 40);
        for (auto& s : line)
          s = static_cast<std::uint8_t>(clip3(0, 255, base + static_cast<int>(random() % spread)));
        if (trial % 2 == 0) {  // a step at the edge
          for (int i = 4; i < 8; ++i)
            line[i] = static_cast<std::uint8_t>(clip3(0, 255, line[i] + kAlpha[qp] - 1));
        }
        for (const bool chroma : {false, true}) {
          std::uint8_t expected[8];
          std::copy(line, line + 8, expected);
          reference_line([&](int d) -> std::uint8_t& { return expected[4 + d]; }, chroma, bS, qp, qp);
          const cu264::core::EdgeLine s{line[0], line[1], line[2], line[3],
                                        line[4], line[5], line[6], line[7]};
          const auto t = cu264::core::deblock_thresholds(qp, qp, 0, 0, bS);
          const auto r =
              bS < 4 ? cu264::core::deblock_normal(s, t, chroma) : cu264::core::deblock_strong(s, t, chroma);
          const int got[8] = {r.p3, r.p2, r.p1, r.p0, r.q0, r.q1, r.q2, r.q3};
          for (int i = 0; i < 8; ++i)
            ASSERT_EQ(got[i], expected[i]) << "sample " << i << " bS " << bS << " qp " << qp;
        }
      }
    }
  }
}

TEST(Deblock, PictureEqualsReference) {
  std::mt19937 random(7);
  const int sizes[][2] = {{1, 1}, {1, 3}, {3, 1}, {4, 3}};
  for (const auto& size : sizes) {
    for (const int amplitude : {0, 2, 6, 20, 60, 255}) {
      for (const int qp : {0, 15, 16, 20, 27, 36, 45, 51}) {
        for (const bool mixed : {false, true}) {
          for (const auto& [a, b] : {std::pair{0, 0}, std::pair{12, -12}, std::pair{-6, 8}}) {
            CpuPicture picture = make_picture(size[0], size[1], amplitude, mixed ? 0 : qp, qp, mixed, random);
            CpuPicture expected = picture;
            cu264::encoder::deblock_picture(picture, a, b);
            reference_picture(expected, a, b);
            ASSERT_EQ(difference(picture, expected), "")
                << size[0] << "x" << size[1] << " macroblocks, amplitude " << amplitude << ", qp " << qp
                << (mixed ? " and below with I_PCM" : "") << ", offsets " << a << " " << b;
          }
        }
      }
    }
  }
}

// Guards the test above: soft content at a high QP does change, and a low QP changes nothing.
TEST(Deblock, ActsWhereItShould) {
  std::mt19937 random(3);
  const CpuPicture before = make_picture(3, 3, 6, 40, 40, false, random);
  CpuPicture after = before;
  cu264::encoder::deblock_picture(after);
  EXPECT_NE(difference(after, before), "");
  for (auto& record : after.macroblocks) record.qp = 15;
  CpuPicture again = after;
  cu264::encoder::deblock_picture(again);
  EXPECT_EQ(difference(again, after), "");
}

}  // namespace
