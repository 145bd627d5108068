#include "encoder/scene_cuts.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace cu264::encoder {
namespace {

constexpr int kBlock = 4;  // 32x32 samples of the source
constexpr int kReach = 4;  // vectors of up to 32 samples
constexpr int kNoise = 2;  // a mean difference that is no cut

// A block of the picture, cut off at its edges.
struct SmallBlock {
  int x, y, width, height;
};

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
  int least = difference(picture, before, block, 0, 0);
  const int left = std::max(-kReach, -block.x), above = std::max(-kReach, -block.y);
  const int right = std::min(kReach, picture.width - block.width - block.x);
  const int below = std::min(kReach, picture.height - block.height - block.y);
  for (int dy = above; dy <= below; ++dy) {
    for (int dx = left; dx <= right; ++dx)
      least = std::min(least, difference(picture, before, block, dx, dy));
  }
  return least;
}

// The sum of differences from the mean of the block.
int activity(const SmallPicture& picture, const SmallBlock& block) {
  int sum = 0, differences = 0;
  const int area = block.width * block.height;
  for (int y = 0; y < block.height; ++y) {
    for (int x = 0; x < block.width; ++x) sum += picture.row(block.y + y)[block.x + x];
  }
  const int mean = (sum + area / 2) / area;
  for (int y = 0; y < block.height; ++y) {
    for (int x = 0; x < block.width; ++x)
      differences += std::abs(picture.row(block.y + y)[block.x + x] - mean);
  }
  return differences;
}

}  // namespace

// At a cut, blocks of the picture before predict worse than the mean of each block does. Where that was
// nearly so for the picture before too, as in noise, fades, a flash's second picture, or motion that is too
// fast, no scene begins.
bool SceneCuts::is_cut(SmallPicture& picture) {
  const bool same_size = picture.width == before_.width && picture.height == before_.height;
  std::int64_t inter = 0, intra = 0;
  for (int y = 0; same_size && y < picture.height; y += kBlock) {
    for (int x = 0; x < picture.width; x += kBlock) {
      const SmallBlock block{x, y, std::min(kBlock, picture.width - x), std::min(kBlock, picture.height - y)};
      inter += least_difference(picture, before_, block);
      intra += activity(picture, block) + kNoise * block.width * block.height;
    }
  }
  const bool cut = same_size && inter >= intra && predicted_well_;
  predicted_well_ = same_size && 4 * inter < 3 * intra;
  std::swap(before_, picture);
  return cut;
}

}  // namespace cu264::encoder
