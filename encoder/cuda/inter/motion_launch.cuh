// What a step is searched with.
#pragma once

#include "encoder/cuda/inter/motion_step.cuh"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {

// P pictures have flat scaling lists.
inline MotionStep motion_step(const StepView& step, Preset preset) {
  return {step, counts_cabac(search_params(preset, step.batch.transform_8x8_mode), step.batch.cabac, true)};
}

}  // namespace cu264::encoder::cuda
