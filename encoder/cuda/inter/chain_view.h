// What the kernels of P pictures see: a step codes one picture of each of several chains, which do not depend
// on each other. The memory of a chain is what encoder/cpu/gop_chain.h has, on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/hd.h"
#include "core/inter_pred.h"
#include "core/motion_vector.h"
#include "core/picture_params.h"
#include "encoder/cuda/batch.h"
#include "encoder/inter_choice.h"

namespace cu264::encoder::cuda {

// A plane with memory around it (core/motion_limits.h says how much), in which vectors may point. `samples`
// and `pitch` are multiples of kPlaneAlignment, so that words of it can be read and written. Kernels read up
// to kPlaneAlignment bytes beyond the padding, whatever is there.
inline constexpr int kPlaneAlignment = 16;

struct DevicePlane {
  std::uint8_t* samples = nullptr;  // the first sample of the plane itself
  int pitch = 0;

  CU264_HD_MEMBER std::uint8_t* at(int x, int y) const {
    return samples + static_cast<std::ptrdiff_t>(y) * pitch + x;
  }
};

// A picture and its chain. Arrays are [mb] unless they say otherwise.
struct ChainView {
  static constexpr int kSizes = 3;  // full, half and quarter size

  DevicePlane source[kSizes], before[kSizes];  // luma of the picture and of the one before
  // The planes of luma have one pitch and lie at the same distance from each other, so that 32 bits tell
  // where a sample of any of them is.
  DevicePlane luma[core::kReferencePlanes], chroma[2];
  // The same of this picture, for the next one: other memory only where a picture may be coded again.
  DevicePlane next_luma[core::kReferencePlanes], next_chroma[2];
  core::MotionVector* quarter = nullptr;  // [region], in samples of quarter size
  core::MotionVector* half = nullptr;
  core::MotionVector* whole[2] = {};           // by pass
  core::MotionVector* whole_before = nullptr;  // whole[1] of the picture before
  core::MotionVector* blocks = nullptr;        // [mb][4]
  PartitionVectors* refined = nullptr;
  InterChoice* choices = nullptr;
  core::MotionRecord* fields[2] = {};  // by pass

  // Goes on to the next picture of the chain.
  void advance() {
    std::swap(source, before);
    std::swap(luma, next_luma);
    std::swap(chroma, next_chroma);
    std::swap(whole[1], whole_before);
  }
};

// The P pictures of a step. All arrays of `batch` begin with the first of them.
struct StepView {
  BatchView batch;
  const ChainView* chains = nullptr;  // [picture], in device memory
};

// Pictures of a step.
struct PictureRange {
  int first, count;
};

}  // namespace cu264::encoder::cuda
