// The partitions of an inter macroblock, and the choice between them by SATD and bits.
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/hd.h"
#include "core/motion_prediction.h"
#include "core/motion_vector.h"

namespace cu264::core {

// The one of 16x16, two of 16x8, two of 8x16 and four of 8x8.
inline constexpr int kPartitions = 9;
inline constexpr int kBlockPartitions = 5;  // the first of the last four

// The 8x8 blocks of a partition: bit b for block b.
CU264_HD constexpr int partition_blocks(int partition) {
  constexpr std::uint8_t table[kPartitions] = {15, 3, 12, 5, 10, 1, 2, 4, 8};
  return table[partition];
}

// SATD of some 8x8 blocks, one bit each, given that of all four.
CU264_HD std::int32_t satd_of(int blocks, const int (&satd)[4]) {
  std::int32_t total = 0;
  for (int block = 0; block < 4; ++block) {
    if ((blocks >> block & 1) != 0) total += satd[block];
  }
  return total;
}

// What the refinement found for a macroblock: the best vector of each partition, and its SATD.
struct PartitionVectors {
  MotionVector vector[kPartitions];
  std::int32_t satd[kPartitions];
};

// The partition of a kind that begins in an 8x8 block.
CU264_HD constexpr int partition_index(MacroblockKind kind, int block) {
  switch (kind) {
    case MacroblockKind::p16x8:
      return 1 + (block >> 1);
    case MacroblockKind::p8x16:
      return 3 + block;
    case MacroblockKind::p8x8:
      return 5 + block;
    default:
      return 0;
  }
}

CU264_HD MacroblockKind kind_of_partitions(int i) {
  return i == 0   ? MacroblockKind::p16x16
         : i == 1 ? MacroblockKind::p16x8
         : i == 2 ? MacroblockKind::p8x16
                  : MacroblockKind::p8x8;
}
inline constexpr int kPartitionKinds = 4;

// Bits of mb_type and sub_mb_type with CAVLC, which serve for CABAC too.
CU264_HD int inter_type_bits(MacroblockKind kind) {
  return kind == MacroblockKind::p16x16 ? 1 : kind == MacroblockKind::p8x8 ? 9 : 3;
}

// Gives all 8x8 blocks of a partition a vector.
CU264_HD void set_partition(MotionVector (&vectors)[4], int partition, MotionVector v) {
  for (int block = 0; block < 4; ++block) {
    if ((partition_blocks(partition) >> block & 1) != 0) vectors[block] = v;
  }
}

}  // namespace cu264::core
