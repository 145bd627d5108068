// The levels of one sub-image, as a window into those of the picture.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vision/params.h"

namespace cu264::vision {

struct LevelView {
  const std::uint8_t* data;
  std::ptrdiff_t pitch;
  int width;
  int height;

  const std::uint8_t* row(int y) const { return data + y * pitch; }
};

// `levels` holds those of the picture in dense rows.
inline LevelView view_of(const std::uint8_t* levels, int picture_width, const Rectangle& window) {
  return {levels + static_cast<std::ptrdiff_t>(window.y) * picture_width + window.x, picture_width,
          window.width, window.height};
}

}  // namespace cu264::vision
