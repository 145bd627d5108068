// What tells whether a scene begins with a picture: how well the picture before predicts it, compared with
// the mean of each of its own blocks. Both are looked at as luma at an eighth of the size, padded to whole
// macroblocks.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

inline constexpr int kEighth = 8;      // samples of the source across one of the small picture
inline constexpr int kSceneBlock = 4;  // samples; 32x32 of the source
inline constexpr int kSceneReach = 4;  // vectors of up to 32 samples of the source

// Over all blocks of a picture. Both are 0 for the first picture of a stream.
struct SceneSums {
  std::int64_t inter = 0;  // the least differences from blocks of the picture before
  std::int64_t intra = 0;  // intra_difference()

  bool operator==(const SceneSums&) const = default;
};

// A sample at an eighth of the size, from the sum of the 64 that it stands for.
CU264_HD int eighth_sample(int sum) {
  return (sum + 32) >> 6;
}

// A block of the small picture, cut off at its right and lower edge.
struct SmallBlock {
  int x, y, width, height;
};

CU264_HD SmallBlock small_block(int column, int row, int width, int height) {
  const int x = kSceneBlock * column, y = kSceneBlock * row;
  return {x, y, width - x < kSceneBlock ? width - x : kSceneBlock,
          height - y < kSceneBlock ? height - y : kSceneBlock};
}

// The vectors of a block that stay within the picture before.
struct SmallVectors {
  int left, right, above, below;
};

CU264_HD SmallVectors vectors_of(const SmallBlock& block, int width, int height) {
  const int right = width - block.width - block.x, below = height - block.height - block.y;
  return {block.x < kSceneReach ? -block.x : -kSceneReach, right < kSceneReach ? right : kSceneReach,
          block.y < kSceneReach ? -block.y : -kSceneReach, below < kSceneReach ? below : kSceneReach};
}

CU264_HD int block_mean(int sum, int area) {
  return (sum + area / 2) / area;
}

// `activity`: the sum of a block's differences from its mean. A difference of 2 in each sample is taken for
// noise, so that no flat picture is a cut.
CU264_HD int intra_difference(int activity, int area) {
  return activity + 2 * area;
}

}  // namespace cu264::core
