// What a step is searched with.
#pragma once

#include <algorithm>

#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {

// P pictures have flat scaling lists.
inline MotionStep motion_step(const StepView& step, Preset preset, const PictureRange& pictures) {
  return {step, counts_cabac(search_params(preset, step.batch.transform_8x8_mode), step.batch.cabac, true),
          pictures.first};
}

// Calls passes(range) for the pictures of a step, so many together.
template <class Passes>
void for_groups(const StepView& step, int together, const Passes& passes) {
  const int all = step.batch.pictures, most = together > 0 ? together : all;
  for (int first = 0; first < all; first += most) passes(PictureRange{first, std::min(most, all - first)});
}

}  // namespace cu264::encoder::cuda
