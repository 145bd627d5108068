// What motion estimation hands to the coding of inter macroblocks. Both backends keep it by macroblock.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/motion_vector.h"
#include "core/partitions.h"

namespace cu264::encoder {

// What the refinement found for a macroblock: the best vector of each partition, and its SATD.
struct PartitionVectors {
  core::MotionVector vector[core::kPartitions];
  std::int32_t satd[core::kPartitions];
};

// How a macroblock is to be predicted; its vectors are in the last pass's field.
struct InterChoice {
  core::MacroblockKind kind = core::MacroblockKind::p16x16;
  bool skips = false;     // its vector is that of P_Skip, as far as is known
  std::int32_t bits = 0;  // of mb_type and mvd
  std::int32_t satd = 0;
  std::int64_t rd_cost = 0;      // as it was coded, where rate and distortion decide
  bool intra_is_likely = false;  // Intra prediction is to be tried
};

}  // namespace cu264::encoder
