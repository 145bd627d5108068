// Pictures at an eighth of the size, in which scene cuts are found (core/scene_sums.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/scene_sums.h"
#include "encoder/cpu_picture.h"

namespace cu264::encoder {

struct SmallPicture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> samples;

  const std::uint8_t* row(int y) const {
    return samples.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
  }
};

// Makes the small picture of a plane of whole macroblocks.
void shrink(const Plane& luma, SmallPicture& small);

// The sums of a picture. The picture before has the same size.
core::SceneSums compare(const SmallPicture& picture, const SmallPicture& before);

}  // namespace cu264::encoder
