// The context variables of CABAC in I slices of frames (H.264 9.3.1.1): their numbers and initial states.
// Their numbers leave out the ranges of ctxIdx that belong to other slice types and to field macroblocks, so
// that the states of a slice take little memory.
#pragma once

#include <cstdint>

#include "core/hd.h"

namespace cu264::core {

// The first context of each syntax element. The comment gives the values of ctxIdx.
inline constexpr int kCtxMbType = 0;            // 3..10
inline constexpr int kCtxMbQpDelta = 8;         // 60..63
inline constexpr int kCtxIntraChromaMode = 12;  // 64..67
inline constexpr int kCtxPrevIntraMode =
    16;                                      // 68, prev_intra4x4_pred_mode_flag, prev_intra8x8_pred_mode_flag
inline constexpr int kCtxRemIntraMode = 17;  // 69, rem_intra4x4_pred_mode, rem_intra8x8_pred_mode
inline constexpr int kCtxPatternLuma = 18;   // 73..76, the four bins of CodedBlockPatternLuma
inline constexpr int kCtxPatternChroma = 22;    // 77..84, those of CodedBlockPatternChroma
inline constexpr int kCtxCodedBlockFlag = 30;   // 85..104
inline constexpr int kCtxSignificant = 50;      // 105..165, significant_coeff_flag
inline constexpr int kCtxLast = 111;            // 166..226, last_significant_coeff_flag
inline constexpr int kCtxAbsLevel = 172;        // 227..275, coeff_abs_level_minus1
inline constexpr int kCtxTransformSize = 221;   // 399..401, transform_size_8x8_flag
inline constexpr int kCtxSignificant8x8 = 224;  // 402..416
inline constexpr int kCtxLast8x8 = 239;         // 417..425
inline constexpr int kCtxAbsLevel8x8 = 248;     // 426..435
inline constexpr int kCabacContexts = 258;

// The number that the standard gives to a context.
CU264_HD constexpr int ctx_idx(int context) {
  return context < kCtxMbQpDelta       ? context + 3
         : context < kCtxPatternLuma   ? context - kCtxMbQpDelta + 60
         : context < kCtxTransformSize ? context - kCtxPatternLuma + 73
                                       : context - kCtxTransformSize + 399;
}

// m and n of a context (tables 9-12 to 9-33, the columns of I slices).
struct ContextInit {
  std::int8_t m;
  std::int8_t n;
};

CU264_HD ContextInit context_init(int context) {
  // clang-format off
  static constexpr ContextInit table[kCabacContexts] = {
      // mb_type, 3..10
      {20, -15}, {2, 54}, {3, 74}, {-28, 127}, {-23, 104}, {-6, 53}, {-1, 54}, {7, 51},
      // mb_qp_delta, 60..63
      {0, 41}, {0, 63}, {0, 63}, {0, 63},
      // intra_chroma_pred_mode, 64..67
      {-9, 83}, {4, 86}, {0, 97}, {-7, 72},
      // prev_intra4x4_pred_mode_flag and rem_intra4x4_pred_mode, 68 and 69
      {13, 41}, {3, 62},
      // coded_block_pattern, 73..76 and 77..84
      {-17, 127}, {-13, 102}, {0, 82}, {-7, 74},
      {-21, 107}, {-27, 127}, {-31, 127}, {-24, 127}, {-18, 95}, {-27, 127}, {-21, 114}, {-30, 127},
      // coded_block_flag, 85..104: four for each ctxBlockCat
      {-17, 123}, {-12, 115}, {-16, 122}, {-11, 115},
      {-12, 63}, {-2, 68}, {-15, 84}, {-13, 104},
      {-3, 70}, {-8, 93}, {-10, 90}, {-30, 127},
      {-1, 74}, {-6, 97}, {-7, 91}, {-20, 127},
      {-4, 56}, {-5, 82}, {-7, 76}, {-22, 125},
      // significant_coeff_flag, 105..165: 15, 14, 15, 3 and 14 by ctxBlockCat
      {-7, 93}, {-11, 87}, {-3, 77}, {-5, 71}, {-4, 63}, {-4, 68}, {-12, 84}, {-7, 62},
      {-7, 65}, {8, 61}, {5, 56}, {-2, 66}, {1, 64}, {0, 61}, {-2, 78},
      {1, 50}, {7, 52}, {10, 35}, {0, 44}, {11, 38}, {1, 45}, {0, 46},
      {5, 44}, {31, 17}, {1, 51}, {7, 50}, {28, 19}, {16, 33}, {14, 62},
      {-13, 108}, {-15, 100}, {-13, 101}, {-13, 91}, {-12, 94}, {-10, 88}, {-16, 84}, {-10, 86},
      {-7, 83}, {-13, 87}, {-19, 94}, {1, 70}, {0, 72}, {-5, 74}, {18, 59},
      {-8, 102}, {-15, 100}, {0, 95},
      {-4, 75}, {2, 72}, {-11, 75}, {-3, 71}, {15, 46}, {-13, 69}, {0, 62},
      {0, 65}, {21, 37}, {-15, 72}, {9, 57}, {16, 54}, {0, 62}, {12, 72},
      // last_significant_coeff_flag, 166..226
      {24, 0}, {15, 9}, {8, 25}, {13, 18}, {15, 9}, {13, 19}, {10, 37}, {12, 18},
      {6, 29}, {20, 33}, {15, 30}, {4, 45}, {1, 58}, {0, 62}, {7, 61},
      {12, 38}, {11, 45}, {15, 39}, {11, 42}, {13, 44}, {16, 45}, {12, 41},
      {10, 49}, {30, 34}, {18, 42}, {10, 55}, {17, 51}, {17, 46}, {0, 89},
      {26, -19}, {22, -17}, {26, -17}, {30, -25}, {28, -20}, {33, -23}, {37, -27}, {33, -23},
      {40, -28}, {38, -17}, {33, -11}, {40, -15}, {41, -6}, {38, 1}, {41, 17},
      {30, -6}, {27, 3}, {26, 22},
      {37, -16}, {35, -4}, {38, -8}, {38, -3}, {37, 3}, {38, 5}, {42, 0},
      {35, 16}, {39, 22}, {14, 48}, {27, 37}, {21, 60}, {12, 68}, {2, 97},
      // coeff_abs_level_minus1, 227..275: ten for each ctxBlockCat, but nine for chroma DC
      {-3, 71}, {-6, 42}, {-5, 50}, {-3, 54}, {-2, 62}, {0, 58}, {1, 63}, {-2, 72}, {-1, 74}, {-9, 91},
      {-5, 67}, {-5, 27}, {-3, 39}, {-2, 44}, {0, 46}, {-16, 64}, {-8, 68}, {-10, 78}, {-6, 77}, {-10, 86},
      {-12, 92}, {-15, 55}, {-10, 60}, {-6, 62}, {-4, 65}, {-12, 73}, {-8, 76}, {-7, 80}, {-9, 88}, {-17, 110},
      {-11, 97}, {-20, 84}, {-11, 79}, {-6, 73}, {-4, 74}, {-13, 86}, {-13, 96}, {-11, 97}, {-19, 117},
      {-8, 78}, {-5, 33}, {-4, 48}, {-2, 53}, {-3, 62}, {-13, 71}, {-10, 79}, {-12, 86}, {-13, 90}, {-14, 97},
      // transform_size_8x8_flag, 399..401
      {31, 21}, {31, 31}, {25, 50},
      // 8x8 luma blocks: significant_coeff_flag 402..416, last_significant_coeff_flag 417..425,
      // coeff_abs_level_minus1 426..435
      {-17, 120}, {-20, 112}, {-18, 114}, {-11, 85}, {-15, 92}, {-14, 89}, {-26, 71}, {-15, 81},
      {-14, 80}, {0, 68}, {-14, 70}, {-24, 56}, {-23, 68}, {-24, 50}, {-11, 74},
      {23, -13}, {26, -13}, {40, -15}, {49, -14}, {44, 3}, {45, 6}, {44, 34}, {33, 54}, {19, 82},
      {-3, 75}, {-1, 23}, {1, 34}, {1, 43}, {0, 54}, {-2, 55}, {0, 61}, {1, 64}, {0, 68}, {-9, 92},
  };
  // clang-format on
  return table[context];
}

// The state of a context is pStateIdx << 1 | valMPS. At the start of a slice it follows from SliceQP_Y, which
// is 0..51 (9.3.1.1).
CU264_HD std::uint8_t state_of(ContextInit init, int slice_qp) {
  const int pre = ((init.m * slice_qp) >> 4) + init.n;
  const int clipped = pre < 1 ? 1 : pre > 126 ? 126 : pre;
  return static_cast<std::uint8_t>(clipped <= 63 ? (63 - clipped) << 1 : (clipped - 64) << 1 | 1);
}

CU264_HD std::uint8_t initial_state(int context, int slice_qp) {
  return state_of(context_init(context), slice_qp);
}

}  // namespace cu264::core
