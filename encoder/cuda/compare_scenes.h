// Compares pictures with those before them at an eighth of the size (core/scene_sums.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/scene_sums.h"

namespace cu264::encoder::cuda {

// Where thread blocks add up what they have found. It is zero before a picture and after it.
struct SceneParts {
  unsigned long long inter;
  unsigned long long intra;
  std::uint32_t finished_blocks;
};

// Pictures of one size that are compared together. Those without luma are left out.
struct SceneInput {
  static constexpr int kMaxPictures = 16;
  struct ComparedPicture {
    const std::uint8_t* luma = nullptr;
    std::ptrdiff_t pitch = 0;
    std::uint8_t* small = nullptr;         // [small_picture_bytes]: where the small picture goes
    const std::uint8_t* before = nullptr;  // that of the picture before; null: there is none
  };

  int width = 0;  // of the source
  int height = 0;
  int mb_width = 0;
  int mb_height = 0;
  int pictures = 0;
  ComparedPicture picture[kMaxPictures];
};

// The bytes of a small picture. Kernels read a few beyond its samples, whatever is there.
inline std::size_t small_picture_bytes(int mb_width, int mb_height) {
  constexpr std::size_t kAlignment = 16;
  const std::size_t samples = 4 * static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height);
  return (samples + 8 + kAlignment - 1) / kAlignment * kAlignment;
}

// Makes the small pictures, from luma of any pitch and alignment, and then writes the sums of each picture to
// `results`, which is memory of the device or page-locked memory. A picture before may be one of the same
// launch. Asynchronous on `stream`. `d_parts` has kMaxPictures elements, which one launch at a time uses.
void launch_compare_scenes(const SceneInput& input, SceneParts* d_parts, core::SceneSums* results,
                           cudaStream_t stream);

}  // namespace cu264::encoder::cuda
