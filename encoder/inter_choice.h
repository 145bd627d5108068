// What motion estimation hands to the coding of inter macroblocks. Both backends keep it by macroblock.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/motion_merge.h"
#include "core/motion_vector.h"
#include "core/partitions.h"

namespace cu264::encoder {

using core::PartitionVectors;

// How a macroblock is to be predicted; its vectors are in the last pass's field.
struct InterChoice {
  core::MacroblockKind kind = core::MacroblockKind::p16x16;
  bool skips = false;     // its vector is that of P_Skip, as far as is known
  std::int32_t bits = 0;  // of mb_type and mvd
  std::int32_t satd = 0;
  std::int64_t rd_cost = 0;      // as it was coded, where rate and distortion decide
  bool intra_is_likely = false;  // Intra prediction is to be tried

  CU264_HD_MEMBER std::int32_t satd_cost(int satd_lambda) const { return satd + satd_lambda * bits; }
};

CU264_HD InterChoice choice_of(const core::InterTrial& trial) {
  InterChoice choice;
  choice.kind = trial.kind, choice.skips = trial.skips;
  choice.bits = trial.bits, choice.satd = trial.satd;
  return choice;
}

// mvd follows when the vectors are final.
CU264_HD core::MotionRecord motion_of(const core::InterTrial& trial) {
  core::MotionRecord motion;
  for (int block = 0; block < 4; ++block) motion.vector[block] = trial.vector[block];
  return motion;
}

}  // namespace cu264::encoder
