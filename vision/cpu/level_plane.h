// Steps 1 to 3 of GUD-Canny on the processor: the level of every pixel of a picture (Stages::level).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vision/params.h"

namespace cu264::vision {

// Keeps its memory from one picture to the next. Runs on the oneTBB arena of the caller.
class LevelPlane {
 public:
  LevelPlane(const CannyParams& params, int width, int height);

  // `pitch` is in bytes, negative for bottom-up.
  void compute(const std::uint8_t* picture, std::ptrdiff_t pitch);

  // Dense rows of `width` bytes.
  const std::uint8_t* levels() const { return levels_.data(); }

 private:
  void smooth(const std::uint8_t* picture, std::ptrdiff_t pitch, int first, int last);
  int largest_square(int first, int last) const;
  void suppress(int reference, int first, int last);
  const std::uint16_t* smoothed_row(int y) const;

  CannyParams params_;
  int width_;
  int height_;
  std::vector<std::uint16_t> smoothed_;
  std::vector<std::uint8_t> levels_;
};

}  // namespace cu264::vision
