// A picture as words of 32 pixels, one bit a pixel: bit i of a word is its pixel i from the left.
//
// The words of a sub-image lie together, row by row. A column of 32 pixels is one word wide, so its words run
// from top to bottom. Bits beyond the picture's right border are 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/hd.h"
#include "vision/params.h"

namespace cu264::vision::cuda {

inline constexpr int kWordPixels = 32;
inline constexpr int kNodesPerWord = 16;  // runs of set bits: they start at least two bits apart
inline constexpr int kLevelPlanes = 7;    // bits of a level
inline constexpr int kSumPlanes = 9;      // bits of SM: at most 32 * 31 / 2

struct WordGrid {
  SubImageLayout layout;
  int words_x;  // words of a row of the picture

  CU264_HD_MEMBER std::uint32_t words() const {
    return static_cast<std::uint32_t>(words_x) * static_cast<std::uint32_t>(layout.height);
  }
  // Words of a row of a sub-image, and words of the largest sub-image.
  CU264_HD_MEMBER std::uint32_t row_words() const {
    return layout.partition == Partition::columns ? 1u : static_cast<std::uint32_t>(words_x);
  }
  CU264_HD_MEMBER std::uint32_t most_words() const {
    const int rows =
        layout.partition == Partition::rows && layout.height > kSubImageSide ? kSubImageSide : layout.height;
    return row_words() * static_cast<std::uint32_t>(rows);
  }
};

CU264_HD WordGrid word_grid(int width, int height, Partition partition) {
  return {sub_image_layout(width, height, partition), (width + kWordPixels - 1) / kWordPixels};
}

// The words of a sub-image.
struct SubWords {
  std::uint32_t first;
  std::uint32_t count;
};

CU264_HD SubWords sub_words(const WordGrid& grid, int sub_image) {
  const std::uint32_t most = grid.most_words(), first = static_cast<std::uint32_t>(sub_image) * most;
  return {first, grid.words() - first < most ? grid.words() - first : most};
}

// The position of a word's first pixel.
struct WordPosition {
  int x, y;
};

CU264_HD WordPosition word_position(const WordGrid& grid, std::uint32_t word) {
  const std::uint32_t inner = grid.layout.partition == Partition::columns
                                  ? static_cast<std::uint32_t>(grid.layout.height)
                                  : grid.row_words();
  const int outer = static_cast<int>(word / inner), within = static_cast<int>(word % inner);
  if (grid.layout.partition == Partition::columns) return {outer * kWordPixels, within};
  return {within * kWordPixels, outer};
}

// The position of the word that follows.
CU264_HD WordPosition next_position(const WordGrid& grid, WordPosition at) {
  if (grid.layout.partition == Partition::columns) {
    return at.y + 1 < grid.layout.height ? WordPosition{at.x, at.y + 1} : WordPosition{at.x + kWordPixels, 0};
  }
  return at.x + kWordPixels < grid.layout.width ? WordPosition{at.x + kWordPixels, at.y}
                                                : WordPosition{0, at.y + 1};
}

CU264_HD int sub_image_of_word(const WordGrid& grid, std::uint32_t word) {
  return static_cast<int>(word / grid.most_words());
}

// Returns where a picture's bit planes begin in an array [picture][plane][word].
CU264_HD std::size_t plane_words(const WordGrid& grid, int picture, int planes) {
  return static_cast<std::size_t>(picture) * planes * grid.words();
}

}  // namespace cu264::vision::cuda
