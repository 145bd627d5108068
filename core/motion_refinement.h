// The refinement of a macroblock's whole-sample vectors at half and quarter samples of the reference picture.
// Trials: the vector itself, the eight around it in steps of half samples, and the eight around the best of
// these in steps of quarter samples. All are measured for each partition, and the best for the whole
// macroblock leads on. 8x8 blocks whose own whole-sample vector is another have such trials of their own,
// then halves are tried with the vectors of their blocks.
#pragma once

#include <cstdint>

#include "core/hd.h"
#include "core/motion_vector.h"

namespace cu264::core {

inline constexpr int kHalfSampleStep = 2, kQuarterSampleStep = 1;  // in quarter samples

CU264_HD MotionVector from_whole_samples(MotionVector v) {
  return motion_vector(4 * v.x, 4 * v.y);
}

// The best vector of a partition so far: the lower cost wins, and of equal ones the earlier.
struct RefinedVector {
  std::int32_t cost = INT32_MAX;
  std::int32_t satd = 0;
  MotionVector vector;

  CU264_HD_MEMBER void take(MotionVector v, std::int32_t new_satd, std::int32_t bits_cost) {
    if (new_satd + bits_cost >= cost) return;
    cost = new_satd + bits_cost, satd = new_satd, vector = v;
  }
};

// Whether an 8x8 block tries the vectors around its own, and later those around its best one. `start` and
// `centre` are where the macroblock's trials were around.
CU264_HD bool block_tries_own(MotionVector own, MotionVector start) {
  return !(own == start);
}
CU264_HD bool block_tries_quarters(MotionVector best, MotionVector centre) {
  return !(best == centre);
}

}  // namespace cu264::core
