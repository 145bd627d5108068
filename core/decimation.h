// Coefficient decimation: a few small levels that stand alone in an inter macroblock cost more bits than they
// are worth. A block's score is a sum over its levels; where it stays low the levels are dropped. Only where
// SATD decides: elsewhere the bits and errors of both ways are compared.
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/hd.h"
#include "core/level_masks.h"

namespace cu264::core {

// 8x8 luma blocks, the luma of a macroblock, and the chroma AC blocks of a macroblock are dropped below
// these.
inline constexpr int kDroppedBlock = 4, kDroppedLuma = 6, kDroppedChroma = 7;

// The score of a level of +-1 after a run of zeros: the longer the run, the less it shows. `large`: of an 8x8
// block.
CU264_HD int decimation_score_of_run(int run, bool large) {
  const int steps = large ? run >> 2 : run;
  return steps < 1 ? 3 : steps < 3 ? 2 : steps < 6 ? 1 : 0;
}

// The score of a block. A greater level keeps it.
template <class Word>
CU264_HD int decimation_score(BasicLevelMasks<Word> masks, bool large) {
  constexpr int kKept = 9;
  if (masks.nonzero != masks.ones) return kKept;
  int score = 0, next = 0;
  for (Word rest = masks.nonzero; rest != 0; rest &= rest - 1) {
    const int k = lowest_bit(rest);
    score += decimation_score_of_run(k - next, large);
    next = k + 1;
  }
  return score;
}

}  // namespace cu264::core
