// Binarisation of a residual block: residual_block_cabac (H.264 7.3.5.3.3, 9.3.2, 9.3.3.1.3).
//
// A sink takes bins in their order:
//   decision(context, bin)  a bin with a context of cabac_contexts.h
//   bypass(value, count)    `count` (1..32) bins that are coded without a context, the first one highest
//   terminate(bin)          end_of_slice_flag, or the bin of mb_type that tells I_PCM
// So the same functions can count items, write items (cabac_item.h) and code bins (cabac_encoder.h).
#pragma once

#include <cstdint>

#include "core/bit_ops.h"
#include "core/block.h"
#include "core/cabac_contexts.h"
#include "core/hd.h"
#include "core/rate_model.h"

namespace cu264::core {

// Up to this value, decisions code coeff_abs_level_minus1; bypass bins code the rest (uCoff of 9.3.2.3).
inline constexpr int kAbsLevelPrefix = 14;

// The first contexts of a category's block. BlockCategory is ctxBlockCat (tables 9-34 and 9-40).
struct CabacBlockContexts {
  int significant;
  int last;
  int abs_level;
};

CU264_HD constexpr CabacBlockContexts block_contexts(BlockCategory category) {
  const int cat = static_cast<int>(category);
  // 0, 15, 29, 44, 47: a category has a context for each coefficient but the last, chroma DC has 3.
  const int position = 15 * cat - (cat > 1 ? 1 : 0) - (cat > 3 ? 12 : 0);
  return {kCtxSignificant + position, kCtxLast + position, kCtxAbsLevel + 10 * cat - (cat > 3 ? 1 : 0)};
}

// Puts the suffix of coeff_abs_level_minus1, an Exp-Golomb code of order 0 (9.3.2.3), followed by the sign.
template <class Sink>
CU264_HD void put_abs_level_suffix(Sink& sink, std::uint32_t suffix, std::uint32_t sign) {
  // A code of n ones, a zero, and n bits of suffix + 1 below its highest bit.
  const int n = highest_bit(suffix + 1);
  const std::uint32_t ones = (1u << n) - 1;
  sink.bypass((ones << (n + 1) | ((suffix + 1) & ones)) << 1 | sign, 2 * n + 2);
}

// Returns how many significant_coeff_flags and last_significant_coeff_flags a block has whose `count`
// non-zero levels end at position `last`. The block's last position, `end`, has neither flag.
CU264_HD constexpr int significance_flags(int last, int count, int end) {
  return (last < end ? last + 1 : end) + count - (last == end ? 1 : 0);
}

// Puts the last decision of a level and its sign. A sink may take both at once.
template <class Sink>
CU264_HD void put_signed(Sink& sink, int context, int bin, std::uint32_t sign) {
  if constexpr (requires { sink.signed_decision(context, bin, sign); }) {
    sink.signed_decision(context, bin, sign);
  } else {
    sink.decision(context, bin);
    sink.bypass(sign, 1);
  }
}

// Counts the levels of magnitude one and of greater magnitude that the block has had so far.
struct AbsLevelState {
  int ones = 0;
  int greater = 0;
};

// The context of a level's first bin, and that of the bins after it, 5 .. 5 + greater_limit. greater_limit is
// 3 for chroma DC and 4 for all other blocks (9.3.3.1.3).
CU264_HD int first_level_context(int first_context, const AbsLevelState& state) {
  return first_context + (state.greater != 0 ? 0 : state.ones < 3 ? 1 + state.ones : 4);
}
CU264_HD int next_level_context(int first_context, int greater_limit, const AbsLevelState& state) {
  return first_context + 5 + (state.greater < greater_limit ? state.greater : greater_limit);
}

// Puts a level; levels come from the highest frequency down.
template <class Sink>
CU264_HD void put_abs_level(Sink& sink, int level, int first_context, int greater_limit,
                            AbsLevelState& state) {
  const std::uint32_t sign = level < 0;
  const int minus1 = (level < 0 ? -level : level) - 1;
  const int first = first_level_context(first_context, state);
  const bool greater = minus1 != 0;
  if (!greater) {
    put_signed(sink, first, 0, sign);
  } else {
    sink.decision(first, 1);
    const int context = next_level_context(first_context, greater_limit, state);
    const int prefix = minus1 < kAbsLevelPrefix ? minus1 : kAbsLevelPrefix;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = 1; i < prefix; ++i) sink.decision(context, 1);
    if (minus1 < kAbsLevelPrefix) {
      put_signed(sink, context, 0, sign);
    } else {
      put_abs_level_suffix(sink, static_cast<std::uint32_t>(minus1 - kAbsLevelPrefix), sign);
    }
  }
  state.ones += greater ? 0 : 1;
  state.greater += greater ? 1 : 0;
}

// Puts significant_coeff_flag and, if it is 1, last_significant_coeff_flag. A sink may take both at once.
template <class Sink>
CU264_HD void put_significance(Sink& sink, int context, bool significant, int last_context, bool last) {
  if constexpr (requires { sink.decision_pair(context, 1, true, last_context, 1); }) {
    sink.decision_pair(context, significant ? 1 : 0, significant, last_context, last ? 1 : 0);
  } else {
    sink.decision(context, significant ? 1 : 0);
    if (significant) sink.decision(last_context, last ? 1 : 0);
  }
}

// Puts the first `count` positions of a significance map or of a part of it. Bit k of `nonzero` tells whether
// level k is not zero; `last` is the position of the block's last one. contexts.significant(k) and
// contexts.last(k) are the contexts of a position.
template <class Sink, class Contexts>
CU264_HD void put_significance_map(Sink& sink, std::uint32_t nonzero, int count, int last,
                                   const Contexts& contexts) {
  for (int k = 0; k < count; ++k) {
    put_significance(sink, contexts.significant(k), (nonzero >> k & 1) != 0, contexts.last(k), k == last);
  }
}

// Puts the levels of a block or of a part of it. `levels` may be any type that is indexed by k.
template <class Sink, class Levels>
CU264_HD void put_abs_levels(Sink& sink, const Levels& levels, std::uint32_t nonzero, int first_context,
                             int greater_limit, AbsLevelState& state) {
  for (std::uint32_t rest = nonzero; rest != 0;) {
    const int k = highest_bit(rest);
    rest ^= 1u << k;
    put_abs_level(sink, levels[k], first_context, greater_limit, state);
  }
}

// Contexts of positions that follow one another.
struct SignificanceContexts {
  int first_significant, first_last;

  CU264_HD_MEMBER int significant(int k) const { return first_significant + k; }
  CU264_HD_MEMBER int last(int k) const { return first_last + k; }
};

// The limit of contexts of levels that are greater than one, in put_abs_level.
CU264_HD constexpr int greater_limit(BlockCategory category) {
  return category == BlockCategory::chroma_dc ? 3 : 4;
}

// Puts what follows coded_block_flag in a block with at least one level.
template <class Sink, class Levels>
CU264_HD void put_cabac_levels(Sink& sink, const Levels& levels, std::uint32_t nonzero,
                               BlockCategory category) {
  const CabacBlockContexts contexts = block_contexts(category);
  const int last = highest_bit(nonzero), end = max_num_coeff(category) - 1;
  put_significance_map(sink, nonzero, last < end ? last + 1 : end, last,
                       SignificanceContexts{contexts.significant, contexts.last});
  AbsLevelState state;
  put_abs_levels(sink, levels, nonzero, contexts.abs_level, greater_limit(category), state);
}

// `flag_inc` is ctxIdxInc of coded_block_flag (9.3.3.1.1.9).
CU264_HD int coded_block_flag_context(BlockCategory category, int flag_inc) {
  return kCtxCodedBlockFlag + 4 * static_cast<int>(category) + flag_inc;
}

// coded_block_flag
template <class Sink>
CU264_HD void put_coded_block_flag(Sink& sink, std::uint32_t nonzero, BlockCategory category, int flag_inc) {
  sink.decision(coded_block_flag_context(category, flag_inc), nonzero != 0 ? 1 : 0);
}

// coded_block_flag and, if it is 1, the levels.
template <class Sink, class Levels>
CU264_HD void put_cabac_block(Sink& sink, const Levels& levels, std::uint32_t nonzero, BlockCategory category,
                              int flag_inc) {
  put_coded_block_flag(sink, nonzero, category, flag_inc);
  if (nonzero != 0) put_cabac_levels(sink, levels, nonzero, category);
}

// ctxIdxInc of significant_coeff_flag and last_significant_coeff_flag at a position of an 8x8 block of a
// frame macroblock (table 9-43).
struct SignificantInc8x8 {
  std::uint8_t at[63] = {0,  1,  2, 3, 4, 5,  5,  4,  4,  3, 3, 4,  4,  4,  5,  5,  4,  4,  4,  4,  3,
                         3,  6,  7, 7, 7, 8,  9,  10, 9,  8, 7, 7,  6,  11, 12, 13, 11, 6,  7,  8,  9,
                         14, 10, 9, 8, 6, 11, 12, 13, 11, 6, 9, 14, 10, 9,  11, 12, 13, 11, 14, 10, 12};
};

CU264_HD int significant_inc_8x8(int k) {
  // The initialiser `= {}` is needed: without it nvcc 13.0 leaves the device's copy zero.
  static constexpr SignificantInc8x8 table = {};
  return table.at[k];
}

CU264_HD constexpr int last_inc_8x8(int k) {
  return k == 0 ? 0 : k < 16 ? 1 : k < 32 ? 2 : k < 40 ? 3 : k < 48 ? 4 : 5 + ((k - 48) >> 2);
}

// An 8x8 block is written in four parts of sixteen positions: first the significance maps, from the lowest
// part up, then the levels, from the highest part down.
inline constexpr int kParts8x8 = 4;

struct PartContexts8x8 {
  int part;

  CU264_HD_MEMBER int significant(int k) const {
    return kCtxSignificant8x8 + significant_inc_8x8(16 * part + k);
  }
  CU264_HD_MEMBER int last(int k) const { return kCtxLast8x8 + last_inc_8x8(16 * part + k); }
};

// Returns how many positions of a part have a significant_coeff_flag if the block's last level is at position
// `last`.
CU264_HD constexpr int significance_positions_8x8(int last, int part) {
  const int end = (last < 63 ? last + 1 : 63) - 16 * part;
  return end < 0 ? 0 : end < 16 ? end : 16;
}

// The levels of a part of four interleaved blocks: coefficient k of the 8x8 block is
// levels[16 * (k & 3) + (k >> 2)].
struct PartLevels8x8 {
  const std::int16_t* levels;
  int part;

  CU264_HD_MEMBER int operator[](int k) const { return levels[16 * (k & 3) + 4 * part + (k >> 2)]; }
};

// An 8x8 luma block with at least one level; in 4:2:0 it has no coded_block_flag. Bit k of `nonzero` tells
// whether coefficient k is not zero.
template <class Sink>
CU264_HD void put_cabac_levels_8x8(Sink& sink, const std::int16_t* levels, std::uint64_t nonzero) {
  const auto high = static_cast<std::uint32_t>(nonzero >> 32);
  const int last = high != 0 ? 32 + highest_bit(high) : highest_bit(static_cast<std::uint32_t>(nonzero));
  const auto mask = [nonzero](int part) { return static_cast<std::uint32_t>(nonzero >> 16 * part) & 0xffff; };
  for (int part = 0; part < kParts8x8; ++part) {
    put_significance_map(sink, mask(part), significance_positions_8x8(last, part), last - 16 * part,
                         PartContexts8x8{part});
  }
  AbsLevelState state;
  for (int part = kParts8x8; part-- > 0;) {
    put_abs_levels(sink, PartLevels8x8{levels, part}, mask(part), kCtxAbsLevel8x8, 4, state);
  }
}

}  // namespace cu264::core
