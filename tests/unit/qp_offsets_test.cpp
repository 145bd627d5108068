// QP offsets from edges and from variance agree with floating point.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "encoder/adaptive_quantisation/qp_offsets.h"

namespace cu264 {
namespace {

using namespace encoder;

constexpr int kWidth = 100, kHeight = 70, kMbWidth = 7, kMbHeight = 5;  // 100 = 6 * 16 + 4

struct Scene {
  std::vector<std::uint8_t> luma, edges;
};

// A picture that is flat at the left and rough at the right, with a bright bar.
Scene scene(unsigned seed) {
  std::mt19937 random(seed);
  Scene scene{std::vector<std::uint8_t>(kWidth * kHeight), std::vector<std::uint8_t>(kWidth * kHeight)};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int rough = x * x / 100;
      scene.luma[y * kWidth + x] =
          static_cast<std::uint8_t>(80 + (y > 30 && y < 40 ? 20 : 0) + random() % (rough + 1));
      scene.edges[y * kWidth + x] = y == 30 && x < 60 ? 255 : 0;
    }
  }
  return scene;
}

std::vector<std::int8_t> offsets(const Scene& scene, AqParams params,
                                 std::vector<std::int8_t> previous = {}) {
  edge_map_qp_offsets(params, scene.luma.data(), kWidth, scene.edges.data(), kWidth, kWidth, kHeight,
                      previous);
  return previous;
}

TEST(QpOffsets, LogarithmIsCloseAndRises) {
  int before = -1;
  for (int value = 0; value < 300000; ++value) {
    const int q8 = log2_of(value);
    ASSERT_GE(q8, before) << value;
    ASSERT_LE(std::abs(q8 / 256.0 - std::log2(value + 1.0)), 0.091) << value;
    before = q8;
  }
  EXPECT_EQ(log2_of(0x7ffffffe), 31 * 256 - 1);
}

TEST(QpOffsets, VarianceIsTheMacroblocks) {
  const Scene picture = scene(1);
  for (int mb = 0; mb < kMbWidth * kMbHeight; ++mb) {
    const int mb_x = mb % kMbWidth, mb_y = mb / kMbWidth;
    double sum = 0, squares = 0;
    int edges = 0;
    for (int y = mb_y * 16; y < mb_y * 16 + 16; ++y) {
      for (int x = mb_x * 16; x < mb_x * 16 + 16; ++x) {
        const int at = std::min(y, kHeight - 1) * kWidth + std::min(x, kWidth - 1);
        sum += picture.luma[at], squares += picture.luma[at] * picture.luma[at];
        edges += x < kWidth && y < kHeight && picture.edges[at];
      }
    }
    const MacroblockSums sums = macroblock_sums(picture.luma.data(), kWidth, picture.edges.data(), kWidth,
                                                kWidth, kHeight, mb_x, mb_y);
    EXPECT_EQ(sums.sum, sum);
    EXPECT_EQ(sums.squares, squares);
    EXPECT_EQ(sums.edges, edges);
    EXPECT_NEAR(variance_weight(sums) / 256.0, std::log2(1 + 4096 + squares - sum * sum / 256), 0.15) << mb;
  }
}

TEST(QpOffsets, ExtremesFit) {
  MacroblockSums sums;
  for (int i = 0; i < 256; ++i) add_sample(sums, 255, true);
  EXPECT_EQ(variance_weight(sums), log2_of(4096));
  MacroblockSums halves;
  for (int i = 0; i < 256; ++i) add_sample(halves, i < 128 ? 0 : 255, false);
  EXPECT_EQ(variance_weight(halves), log2_of(4096 + 256 * 255 * 255 / 4));
  // At most 16 edge samples count.
  EXPECT_EQ(edge_weight({0, 0, 0}), variance_weight({0, 0, 0}));
  EXPECT_EQ(edge_weight({5, 0, 0}), log2_of(4096) - 5 * 112);
  EXPECT_EQ(edge_weight({256, 0, 0}), log2_of(4096) - 16 * 112);
}

// Edges and steps share one law; variance does not count them.
TEST(QpOffsets, ModesWeighEdges) {
  const MacroblockSums sums{9, 3000, 60000};
  EXPECT_EQ(macroblock_weight(AqMode::edges, sums), variance_weight(sums) - 9 * 112);
  EXPECT_EQ(macroblock_weight(AqMode::steps, sums), macroblock_weight(AqMode::edges, sums));
  EXPECT_EQ(macroblock_weight(AqMode::variance, sums), variance_weight(sums));
}

TEST(QpOffsets, OffsetsAreZeroMeanAndGrowWithStrength) {
  for (const AqMode mode : {AqMode::edges, AqMode::variance}) {
    int spread_before = -1;
    for (const int strength : {0, 128, 256, 512, 768}) {
      const auto found = offsets(scene(2), {mode, strength});
      ASSERT_EQ(found.size(), static_cast<std::size_t>(kMbWidth * kMbHeight));
      // Offsets are clipped at the limit.
      const int sum = std::accumulate(found.begin(), found.end(), 0);
      EXPECT_LE(std::abs(sum), strength <= 256 ? kMbWidth * kMbHeight / 4 : 2 * kMbWidth * kMbHeight)
          << strength;
      int spread = 0;
      for (const int offset : found) {
        EXPECT_LE(std::abs(offset), kMaxOffset);
        spread += std::abs(offset);
      }
      EXPECT_GT(spread, spread_before);
      EXPECT_EQ(spread == 0, strength == 0);
      spread_before = spread;
    }
  }
}

TEST(QpOffsets, EdgesLowerAndTextureRaisesTheQp) {
  const auto found = offsets(scene(3), {AqMode::edges, 256});
  const auto without = [&] {
    Scene bare = scene(3);
    bare.edges.assign(bare.edges.size(), 0);
    return offsets(bare, {AqMode::edges, 256});
  }();
  EXPECT_LT(found[1 * kMbWidth + 1], without[1 * kMbWidth + 1]);  // row 30 crosses this macroblock
  EXPECT_GT(without[0 * kMbWidth + 6], without[0 * kMbWidth + 0]);
  const auto variance = offsets(scene(3), {AqMode::variance, 256});
  EXPECT_LT(variance[0], 0);
  EXPECT_GT(variance[6], 0);
}

TEST(QpOffsets, FlatPicturesHaveNoOffsets) {
  Scene flat{std::vector<std::uint8_t>(kWidth * kHeight, 33), std::vector<std::uint8_t>(kWidth * kHeight)};
  for (const AqMode mode : {AqMode::edges, AqMode::variance}) {
    for (const int offset : offsets(flat, {mode, kMaxStrength})) EXPECT_EQ(offset, 0);
  }
}

TEST(QpOffsets, SmallMovesKeepThePreviousOffset) {
  EXPECT_EQ(settled_offset(128, kNoPrevious), 1);
  EXPECT_EQ(settled_offset(127, kNoPrevious), 0);
  EXPECT_EQ(settled_offset(-128, kNoPrevious), 0);
  EXPECT_EQ(settled_offset(-129, kNoPrevious), -1);
  EXPECT_EQ(settled_offset(2 * 256 + 192, 2), 2);
  EXPECT_EQ(settled_offset(2 * 256 + 193, 2), 3);
  EXPECT_EQ(settled_offset(2 * 256 - 192, 2), 2);
  EXPECT_EQ(settled_offset(2 * 256 - 193, 2), 1);
  EXPECT_EQ(settled_offset(-3000, 5), -12);
  // The noise differs from picture to picture: fewer offsets change than without memory.
  const AqParams params{AqMode::edges, 512};
  int changes = 0, free_changes = 0;
  std::vector<std::int8_t> kept, free;
  for (unsigned picture = 0; picture < 20; ++picture) {
    const auto next = offsets(scene(picture), params, kept), next_free = offsets(scene(picture), params);
    for (std::size_t mb = 0; mb < kept.size(); ++mb) {
      changes += kept[mb] != next[mb], free_changes += free[mb] != next_free[mb];
    }
    kept = next, free = next_free;
  }
  EXPECT_LT(changes, free_changes / 2);
}

}  // namespace
}  // namespace cu264
