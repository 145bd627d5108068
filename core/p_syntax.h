// macroblock_layer of P slices (H.264 7.3.5) without the residual, with CAVLC. I macroblocks of P slices
// differ from those of I slices in mb_type alone.
#pragma once

#include <cstdint>

#include "core/bits.h"
#include "core/block.h"
#include "core/hd.h"
#include "core/mb_syntax.h"
#include "core/motion_prediction.h"
#include "core/motion_vector.h"

namespace cu264::core {

inline constexpr int kPMbTypes = 5;  // mb_type of I macroblocks is greater by this (table 7-13)

// mb_type of a P slice; P_Skip has none.
CU264_HD int p_mb_type(const MacroblockRecord& mb) {
  switch (mb.kind) {
    case MacroblockKind::p16x16:
      return 0;
    case MacroblockKind::p16x8:
      return 1;
    case MacroblockKind::p8x16:
      return 2;
    case MacroblockKind::p8x8:
      return 3;
    default:
      return kPMbTypes + mb_type(mb);
  }
}

// codeNum of coded_block_pattern for Inter prediction (table 9-4).
CU264_HD int inter_pattern_code_num(int coded_block_pattern) {
  static constexpr std::uint8_t table[48] = {0, 2,  3,  7,  4,  8,  17, 13, 5,  18, 9,  14, 10, 15, 16, 11,
                                             1, 32, 33, 36, 34, 37, 44, 40, 35, 45, 38, 41, 39, 42, 43, 19,
                                             6, 24, 25, 20, 26, 21, 46, 28, 27, 47, 22, 29, 23, 30, 31, 12};
  return table[coded_block_pattern];
}

// Returns whether an inter macroblock has transform_size_8x8_flag (7.3.5): its partitions are all of 8x8 or
// more.
CU264_HD bool inter_has_transform_size_flag(const MacroblockRecord& mb) {
  return mb.transform_8x8_mode && (mb.coded_block_pattern & 15) != 0;
}

// The most bits of an inter header: `bits` for mb_type and mvd, then coded_block_pattern,
// transform_size_8x8_flag and mb_qp_delta.
CU264_HD int most_inter_header_bits(int bits) {
  return bits + 2 + 11 + 1 + 11;
}

template <class Sink>
CU264_HD void put_inter_header(Sink& sink, const MacroblockRecord& mb, const MotionRecord& motion) {
  put_ue(sink, static_cast<std::uint32_t>(p_mb_type(mb)));
  if (mb.kind == MacroblockKind::p8x8) sink.put(15, 4);  // sub_mb_type P_L0_8x8, four times
  for_each_partition(mb.kind, [&](int block) {
    put_se(sink, motion.mvd[block].x);
    put_se(sink, motion.mvd[block].y);
  });
  put_ue(sink, static_cast<std::uint32_t>(inter_pattern_code_num(mb.coded_block_pattern)));
  if (inter_has_transform_size_flag(mb)) sink.put(mb.inter_transform_8x8 ? 1 : 0, 1);
  if (has_mb_qp_delta(mb)) put_se(sink, mb.mb_qp_delta);
}

// Puts everything before the residual of a macroblock that is not P_Skip, and only mb_type for I_PCM.
template <class Sink>
CU264_HD void put_p_macroblock_header(Sink& sink, const MacroblockRecord& mb, const MotionRecord& motion,
                                      const MacroblockRecord* left, const MacroblockRecord* above) {
  if (is_inter(mb.kind)) return put_inter_header(sink, mb, motion);
  put_ue(sink, static_cast<std::uint32_t>(p_mb_type(mb)));
  put_macroblock_header_rest(sink, mb, left, above);
}

}  // namespace cu264::core
