// The memory that a stream keeps from one picture to the next: the reference picture, the source of the
// picture before, and its motion. A picture may be coded again, or be left out of the stream, so what becomes
// the next reference waits until the next picture begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/inter_pred.h"
#include "core/motion_limits.h"
#include "core/motion_search.h"
#include "core/motion_vector.h"
#include "encoder/cpu/padded_plane.h"
#include "encoder/cpu_picture.h"
#include "encoder/inter_choice.h"

namespace cu264::encoder {

struct GopChain {
  static constexpr int kSizes = 3;  // full, half and quarter size

  int mb_width = 0, mb_height = 0;
  PaddedPlane source[2][kSizes];       // luma of this picture and the one before
  std::vector<std::uint16_t> sums[2];  // of 4x4 blocks at quarter size, at every sample of the padded plane
  int current = 0;
  PaddedPlane luma[core::kReferencePlanes];
  PaddedPlane chroma[2];

  int region_width = 0, region_height = 0;
  std::vector<core::MotionVector> quarter;    // [region], in samples of quarter size
  std::vector<core::MotionVector> half;       // [mb]
  std::vector<core::MotionVector> whole[2];   // [mb], by pass
  std::vector<core::MotionVector> blocks;     // [mb][4], of 8x8 blocks at full size
  std::vector<PartitionVectors> refined;      // [mb]
  std::vector<InterChoice> choices;           // [mb]
  std::vector<core::MotionRecord> fields[2];  // [mb], by pass
  std::vector<std::uint8_t> skips;            // [mb]: whether it is P_Skip

  std::vector<core::MotionVector>
      whole_before;            // [mb], of the picture before: whole[1], or 0 of a key picture
  Plane decoded[3];            // the last picture, filtered
  bool decoded_inter = false;  // it is a P picture

  void resize(int mbs_wide, int mbs_high) {
    mb_width = mbs_wide, mb_height = mbs_high;
    for (auto& sizes : source) {
      for (int i = 0; i < kSizes; ++i)
        sizes[i].resize(16 * mb_width >> i, 16 * mb_height >> i, core::kReferencePad);
    }
    for (auto& of_source : sums) of_source.assign(source[0][kSizes - 1].samples.size(), 0);
    for (PaddedPlane& plane : luma) plane.resize(16 * mb_width, 16 * mb_height, core::kReferencePad);
    for (PaddedPlane& plane : chroma) plane.resize(8 * mb_width, 8 * mb_height, core::kReferencePad / 2);
    region_width = (mb_width + 1) / 2, region_height = (mb_height + 1) / 2;
    const std::size_t mbs = static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height);
    quarter.resize(static_cast<std::size_t>(region_width) * static_cast<std::size_t>(region_height));
    half.resize(mbs);
    for (auto& pass : whole) pass.assign(mbs, {});
    whole_before.assign(mbs, {});
    blocks.resize(4 * mbs);
    refined.resize(mbs), choices.resize(mbs);
    for (auto& field : fields) field.resize(mbs);
    skips.resize(mbs);
  }
};

}  // namespace cu264::encoder
