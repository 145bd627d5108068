// The memory that a stream keeps from one picture to the next: the reference picture, the source of the
// picture before, and its motion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/block.h"
#include "core/inter_pred.h"
#include "core/motion_limits.h"
#include "core/motion_search.h"
#include "core/motion_vector.h"
#include "core/partitions.h"
#include "encoder/cpu/padded_plane.h"

namespace cu264::encoder {

// What the refinement found for a macroblock: the best vector of each partition, and its SATD.
struct PartitionVectors {
  core::MotionVector vector[core::kPartitions];
  std::int32_t satd[core::kPartitions];
};

// How a macroblock is to be predicted; its vectors are in GopChain::fields.
struct InterChoice {
  core::MacroblockKind kind = core::MacroblockKind::p16x16;
  bool skips = false;     // its vector is that of P_Skip, as far as is known
  std::int32_t bits = 0;  // of mb_type and mvd
  std::int32_t satd = 0;
  std::int64_t rd_cost = 0;      // as it was coded, where rate and distortion decide
  bool intra_is_likely = false;  // Intra prediction is to be tried
};

struct GopChain {
  static constexpr int kSizes = 3;  // full, half and quarter size

  int mb_width = 0, mb_height = 0;
  PaddedPlane source[2][kSizes];  // luma of this picture and the one before
  int current = 0;
  PaddedPlane luma[core::kReferencePlanes];
  PaddedPlane chroma[2];

  int region_width = 0, region_height = 0;
  std::vector<core::MotionVector> quarter;    // [region], in samples of quarter size
  std::vector<core::MotionVector> half;       // [mb]
  std::vector<core::MotionVector> whole[2];   // [mb], by pass; the second is kept for the next picture
  std::vector<core::MotionVector> blocks;     // [mb][4], of 8x8 blocks at full size
  std::vector<PartitionVectors> refined;      // [mb]
  std::vector<InterChoice> choices;           // [mb]
  std::vector<core::MotionRecord> fields[2];  // [mb], by pass
  std::vector<std::uint8_t> skips;            // [mb]: whether it is P_Skip

  void resize(int mbs_wide, int mbs_high) {
    mb_width = mbs_wide, mb_height = mbs_high;
    for (auto& sizes : source) {
      for (int i = 0; i < kSizes; ++i)
        sizes[i].resize(16 * mb_width >> i, 16 * mb_height >> i, core::kReferencePad);
    }
    for (PaddedPlane& plane : luma) plane.resize(16 * mb_width, 16 * mb_height, core::kReferencePad);
    for (PaddedPlane& plane : chroma) plane.resize(8 * mb_width, 8 * mb_height, core::kReferencePad / 2);
    region_width = (mb_width + 1) / 2, region_height = (mb_height + 1) / 2;
    const std::size_t mbs = static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height);
    quarter.resize(static_cast<std::size_t>(region_width) * static_cast<std::size_t>(region_height));
    half.resize(mbs);
    for (auto& pass : whole) pass.assign(mbs, {});
    blocks.resize(4 * mbs);
    refined.resize(mbs), choices.resize(mbs);
    for (auto& field : fields) field.resize(mbs);
    skips.resize(mbs);
  }
};

}  // namespace cu264::encoder
