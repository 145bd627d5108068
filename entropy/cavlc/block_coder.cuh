// residual_block_cavlc of a block that a thread holds: core/cavlc_block.h's put_block without its loops over
// coefficients and runs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "core/cavlc_runs.h"
#include "core/cavlc_tables.h"

namespace cu264::entropy {

// Sixteen levels as they lie in memory.
struct BlockLevels {
  uint4 low = {}, high = {};
};

__device__ __forceinline__ BlockLevels load_levels(const std::int16_t* levels) {
  const uint4* const aligned = reinterpret_cast<const uint4*>(levels);
  return {__ldg(aligned), __ldg(aligned + 1)};
}

// Bit k of each: level k is not zero, is 1 or -1, is -1 (or positive and even, which nobody asks).
struct LevelSigns {
  std::uint32_t nonzero, ones, negative;
};

// Of sixteen fields of two bits, level 2 * j in the lower half and 2 * j + 1 in the upper, the lower bits.
__device__ __forceinline__ std::uint32_t gather_fields(std::uint32_t fields) {
  return (fields & 0x5555u) | ((fields >> 15) & 0xaaaau);
}

__device__ __forceinline__ LevelSigns level_signs(const BlockLevels& levels) {
  const std::uint32_t pairs[8] = {levels.low.x,  levels.low.y,  levels.low.z,  levels.low.w,
                                  levels.high.x, levels.high.y, levels.high.z, levels.high.w};
  std::uint32_t fields = 0;
#pragma unroll
  for (int j = 7; j >= 0; --j) {
    // min(level + 1, 3) as unsigned: -1, 0, 1 become 0, 1, 2, all others 3.
    fields = 4 * fields + __viaddmin_u16x2(pairs[j], 0x00010001u, 0x00030003u);
  }
  const std::uint32_t upper = fields >> 1;
  return {gather_fields(~fields | upper), gather_fields(~fields), gather_fields(~upper)};
}

// A block's levels, to be read in any order: each thread's 32 bytes in shared memory. Halves are swapped in
// every second group of four threads, so that equal levels of neighbours lie in different banks.
class StagedLevels {
 public:
  static constexpr int kWarpBytes = 32 * 32;

  // `s_warp`: kWarpBytes, aligned to 16.
  __device__ __forceinline__ StagedLevels(std::uint8_t* s_warp, int lane)
      : s_own_(s_warp + 32 * lane), swap_((lane & 4) << 2) {}

  __device__ __forceinline__ void store(const BlockLevels& levels) const {
    *reinterpret_cast<uint4*>(s_own_ + swap_) = levels.low;
    *reinterpret_cast<uint4*>(s_own_ + (16 ^ swap_)) = levels.high;
  }
  __device__ __forceinline__ int operator[](int k) const {
    return *reinterpret_cast<const std::int16_t*>(s_own_ + ((2 * k) ^ swap_));
  }

 private:
  std::uint8_t* s_own_;
  int swap_;
};

// The highest three bits of x, or all if there are fewer.
__device__ __forceinline__ std::uint32_t highest_three(std::uint32_t x) {
  const std::uint32_t reversed = __brev(x);
  std::uint32_t rest = reversed & (reversed - 1);
  rest &= rest - 1;
  rest &= rest - 1;
  return x ^ __brev(rest);
}

// `column`: core::coeff_token_column. Not for empty blocks. `levels` must hold what `signs` was taken from.
template <class Sink>
__device__ __forceinline__ void put_nonempty_block(Sink& sink, const StagedLevels& levels, LevelSigns signs,
                                                   int max_num_coeff, int column) {
  const std::uint32_t nonzero = signs.nonzero & ((1u << max_num_coeff) - 1);
  const std::uint32_t others = nonzero & ~signs.ones;
  const std::uint32_t trailing = highest_three(nonzero & signs.ones & (~0u << (32 - __clz(others))));
  const int total_coeff = __popc(nonzero), trailing_ones = __popc(trailing);
  const core::CodeWord token = core::coeff_token_code(column, total_coeff, trailing_ones);
  std::uint32_t token_and_signs = token.bits;
#pragma unroll 1
  for (std::uint32_t rest = trailing; rest != 0;) {
    const int k = core::highest_bit(rest);
    rest ^= 1u << k;
    token_and_signs = token_and_signs << 1 | ((signs.negative >> k) & 1);
  }
  sink.put(token_and_signs, token.length + trailing_ones);

  int suffix_length = total_coeff > 10 && trailing_ones < 3;
  bool cannot_be_one = trailing_ones < 3;
#pragma unroll 1
  for (std::uint32_t rest = nonzero ^ trailing; rest != 0; cannot_be_one = false) {
    const int k = core::highest_bit(rest);
    rest ^= 1u << k;
    const int level = levels[k];
    core::put_level(sink, core::level_code(level, cannot_be_one), suffix_length);
    suffix_length = core::next_suffix_length(suffix_length, abs(level));
  }

  if (total_coeff == max_num_coeff) return;  // no zeros, no runs
  const int zeros = core::highest_bit(nonzero) + 1 - total_coeff;
  const core::CodeWord total_zeros =
      core::total_zeros_code(total_coeff + (max_num_coeff == 4 ? core::kChromaDcTotalZeros : 0), zeros);
  const core::Runs runs = core::run_before_codes(nonzero);
  sink.put(static_cast<std::uint32_t>(total_zeros.bits) << runs.length | runs.bits,
           total_zeros.length + runs.length);
}

}  // namespace cu264::entropy
