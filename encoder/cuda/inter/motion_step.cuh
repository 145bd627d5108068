// What the kernels of motion estimation know of a step.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cabac_rate.h"
#include "core/motion_limits.h"
#include "core/p_lambda.h"
#include "core/rate_model.h"
#include "encoder/cuda/inter/chain_view.h"

namespace cu264::encoder::cuda {

struct MotionStep {
  StepView step;
  bool counts_cabac;  // whose bits the search counts (encoder/presets.h)
  int first_picture;  // of the launch

  __device__ int satd_lambda(int picture) const {
    const int qp = step.batch.params[picture].qp;
    return counts_cabac ? core::p_satd_lambda<core::CabacRate>(qp) : core::p_satd_lambda<core::CavlcRate>(qp);
  }
  __device__ int sad_lambda(int picture) const { return core::sad_lambda(satd_lambda(picture)); }

  __device__ core::MotionLimits limits(int mb_x, int mb_y) const {
    const BatchView& batch = step.batch;
    return core::motion_limits(16 * mb_x, 16 * mb_y, 16, 16, 16 * batch.mb_width, 16 * batch.mb_height);
  }
  // Whether the row above is in the slice.
  __device__ bool above(int mb_y) const {
    const BatchView& batch = step.batch;
    if (batch.slices == 1) return mb_y > 0;  // most often, and without two divisions
    const int slice = core::slice_of_row(mb_y, batch.slices, batch.mb_height);
    return mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
  }
};

// The vectors around a macroblock in the pass before, scaled to full size; the macroblock's own where there
// is no neighbour.
struct WholeField {
  const core::MotionVector* from;
  int scale, mb_x, mb_y, mb_width, mb_height;

  CU264_HD_MEMBER core::MotionVector operator()(int dx, int dy) const {
    const int x = mb_x + dx, y = mb_y + dy;
    const bool there = x >= 0 && x < mb_width && y >= 0 && y < mb_height;
    const core::MotionVector v = from[(there ? y : mb_y) * mb_width + (there ? x : mb_x)];
    return core::motion_vector(scale * v.x, scale * v.y);
  }
};

// A vector as one word, for exchanges between lanes.
__device__ inline std::uint32_t word_of(core::MotionVector v) {
  return static_cast<std::uint32_t>(static_cast<std::uint16_t>(v.x)) |
         static_cast<std::uint32_t>(static_cast<std::uint16_t>(v.y)) << 16;
}
__device__ inline core::MotionVector vector_of(std::uint32_t word) {
  return core::motion_vector(static_cast<std::int16_t>(word & 0xffffu),
                             static_cast<std::int16_t>(word >> 16));
}
__device__ inline core::MotionVector vector_in_lane(core::MotionVector v, int lane) {
  return vector_of(__shfl_sync(0xffffffffu, word_of(v), lane));
}

}  // namespace cu264::encoder::cuda
