#include "encoder/cpu/small_picture.h"

#include <algorithm>
#include <cstdlib>

namespace cu264::encoder {
namespace {

using core::SmallBlock;

int difference(const SmallPicture& picture, const SmallPicture& before, const SmallBlock& block, int dx,
               int dy) {
  int sum = 0;
  for (int y = 0; y < block.height; ++y) {
    const std::uint8_t* const own = picture.row(block.y + y) + block.x;
    const std::uint8_t* const other = before.row(block.y + dy + y) + block.x + dx;
    for (int x = 0; x < block.width; ++x) sum += std::abs(own[x] - other[x]);
  }
  return sum;
}

int least_difference(const SmallPicture& picture, const SmallPicture& before, const SmallBlock& block) {
  const core::SmallVectors vectors = core::vectors_of(block, picture.width, picture.height);
  int least = difference(picture, before, block, 0, 0);
  for (int dy = vectors.above; dy <= vectors.below; ++dy) {
    for (int dx = vectors.left; dx <= vectors.right; ++dx)
      least = std::min(least, difference(picture, before, block, dx, dy));
  }
  return least;
}

int intra_difference(const SmallPicture& picture, const SmallBlock& block) {
  int sum = 0, activity = 0;
  const int area = block.width * block.height;
  for (int y = 0; y < block.height; ++y) {
    for (int x = 0; x < block.width; ++x) sum += picture.row(block.y + y)[block.x + x];
  }
  const int mean = core::block_mean(sum, area);
  for (int y = 0; y < block.height; ++y) {
    for (int x = 0; x < block.width; ++x) activity += std::abs(picture.row(block.y + y)[block.x + x] - mean);
  }
  return core::intra_difference(activity, area);
}

}  // namespace

void shrink(const Plane& luma, SmallPicture& small) {
  constexpr int kSide = core::kEighth;
  small.width = luma.width / kSide, small.height = luma.height / kSide;
  small.samples.resize(static_cast<std::size_t>(small.width) * static_cast<std::size_t>(small.height));
  std::uint8_t* out = small.samples.data();
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      int sum = 0;
      for (int row = 0; row < kSide; ++row) {
        const std::uint8_t* const in = luma.row(kSide * y + row) + kSide * x;
        for (int i = 0; i < kSide; ++i) sum += in[i];
      }
      *out++ = static_cast<std::uint8_t>(core::eighth_sample(sum));
    }
  }
}

core::SceneSums compare(const SmallPicture& picture, const SmallPicture& before) {
  constexpr int kSide = core::kSceneBlock;
  const int columns = (picture.width + kSide - 1) / kSide, rows = (picture.height + kSide - 1) / kSide;
  core::SceneSums sums;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const SmallBlock block = core::small_block(column, row, picture.width, picture.height);
      sums.inter += least_difference(picture, before, block);
      sums.intra += intra_difference(picture, block);
    }
  }
  return sums;
}

}  // namespace cu264::encoder
