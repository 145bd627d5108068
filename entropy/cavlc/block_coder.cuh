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

// Sixteen bytes that are read once: the code tables shall stay in the L1 cache, not they.
__device__ __forceinline__ uint4 load_once(const uint4* address) {
  uint4 value;
  asm("ld.global.nc.L1::evict_first.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(address));
  return value;
}

__device__ __forceinline__ BlockLevels load_levels(const std::int16_t* levels) {
  const uint4* const aligned = reinterpret_cast<const uint4*>(levels);
  return {load_once(aligned), load_once(aligned + 1)};
}

// Bit k of each: level k is not zero, is 1 or -1, is -1 (or positive and even, which nobody asks).
struct LevelSigns {
  std::uint32_t nonzero, ones, negative;
};

// Of sixteen fields of two bits, level 2 * j in the lower half and 2 * j + 1 in the upper, the lower bits.
__device__ __forceinline__ std::uint32_t gather_fields(std::uint32_t fields) {
  return (fields & 0x5555u) | ((fields >> 15) & 0xaaaau);
}

// What level_signs adds to a pair of levels. From a shuffle, so that the compiler keeps it in a register: it
// would load a constant anew for each use. All lanes.
__device__ __forceinline__ std::uint32_t pair_of_ones() {
  return __shfl_sync(0xffffffffu, 0x00010001u, 0);
}

__device__ __forceinline__ LevelSigns level_signs(const BlockLevels& levels, std::uint32_t ones) {
  const std::uint32_t pairs[8] = {levels.low.x,  levels.low.y,  levels.low.z,  levels.low.w,
                                  levels.high.x, levels.high.y, levels.high.z, levels.high.w};
  std::uint32_t fields = 0;
#pragma unroll
  for (int j = 7; j >= 0; --j) {
    // min(level + 1, 3) as unsigned: -1, 0, 1 become 0, 1, 2, all others 3.
    fields = 4 * fields + __viaddmin_u16x2(pairs[j], ones, 0x00030003u);
  }
  const std::uint32_t upper = fields >> 1;
  return {gather_fields(~fields | upper), gather_fields(~fields), gather_fields(~upper)};
}

// A block's levels, to be read in any order: each thread's 32 bytes in shared memory. Halves are swapped in
// every second group of four threads, so that equal levels of neighbours lie in different banks.
class StagedLevels {
 public:
  static constexpr int kWarpBytes = 32 * 32;

  // A warp's bytes lie at `offset` from s_base, both aligned to 32.
  __device__ __forceinline__ StagedLevels(std::uint8_t* s_base, int offset, int lane)
      : s_base_(s_base), own_(offset + 32 * lane + ((lane & 4) << 2)) {}

  __device__ __forceinline__ void store(const BlockLevels& levels) const {
    *reinterpret_cast<uint4*>(s_base_ + own_) = levels.low;
    *reinterpret_cast<uint4*>(s_base_ + (own_ ^ 16)) = levels.high;
  }
  __device__ __forceinline__ int operator[](int k) const {
    return *reinterpret_cast<const std::int16_t*>(s_base_ + (own_ ^ (2 * k)));
  }

 private:
  std::uint8_t* const s_base_;
  const int own_;
};

// The trailing ones among `ones`, which has no others above them.
struct TrailingOnes {
  std::uint32_t mask, signs;
  int count;

  // Highest frequency first is lowest bit first here, which is cheap to take away.
  __device__ __forceinline__ TrailingOnes(std::uint32_t ones, std::uint32_t negative) {
    const std::uint32_t all = __brev(ones), minus = __brev(negative);
    const std::uint32_t from2 = all & (all - 1), from3 = from2 & (from2 - 1), from4 = from3 & (from3 - 1);
    const std::uint32_t three = all ^ from4;
    count = __popc(three);
    mask = __brev(three);
    signs = ((minus & (all ^ from2)) != 0 ? 4u : 0u) + ((minus & (from2 ^ from3)) != 0 ? 2u : 0u) +
            ((minus & (from3 ^ from4)) != 0 ? 1u : 0u);
    signs >>= 3 - count;
  }
};

// The symbols of a block as they are. A Change else has, for the key of a block: flips(key), bit i whether
// level number i from the highest frequency down changes its sign; places(key, nonzero, total_coeff,
// max_num_coeff), other places of its levels, as a mask, if they are not everywhere.
struct NoBlockChange {
  static constexpr bool kAny = false;
  struct Key {};
};

// The levels of a block one after the other, from the highest frequency down (9.2.2). kFlips: bit i of
// `flips` is another sign for number i of them, where the sign has a bit of its own.
template <bool kFlips>
struct LevelCoder {
  std::uint32_t rest;  // those to come
  int suffix_length;
  int subtrahend;  // what 2 * |level| exceeds level_code by
  std::uint32_t flips;
  int largest = 3;  // beyond it suffix_length grows

  // The first ones, which are short and fit the sink's queue, in a loop of few instructions.
  template <class Sink>
  __device__ __forceinline__ void put_all(Sink& sink, const StagedLevels& levels) {
    if (rest == 0) return;
#pragma unroll 1
    do {
      const int k = core::highest_bit(rest), level = levels[k];
      const int code = code_of(level), prefix = code >> suffix_length, one = 1 << suffix_length;
      if (prefix >= 14) break;
      sink.queue.push(static_cast<std::uint32_t>((code & (one - 1)) | one), prefix + 1 + suffix_length);
      follow(k, abs(level));
    } while ((rest != 0) & (sink.queue.count <= 36));
    if (rest != 0) put_rest(sink, levels);
  }

 private:
  template <class Sink>
  __device__ __forceinline__ void put_rest(Sink& sink, const StagedLevels& levels) {
#pragma unroll 1
    do {
      sink.make_room();
      const int k = core::highest_bit(rest), level = levels[k], code = code_of(level);
      const int one = 1 << suffix_length, escape = suffix_length == 0 ? 14 : 15 << suffix_length;
      auto bits = static_cast<std::uint32_t>((code & (one - 1)) | one);
      int length = (code >> suffix_length) + suffix_length + 1;
      if (code >= escape) {
        // level_prefix 14, where suffixLength is 0, and 15 (9.2.2.1)
        const bool longest = suffix_length > 0 || code >= 30;
        bits = longest ? 1 << 12 | (code - (suffix_length > 0 ? escape : 30)) : 1 << 4 | (code - 14);
        length = longest ? 28 : 19;
      }
      sink.queue.push(bits, length);
      follow(k, abs(level));
    } while (rest != 0);
  }

  __device__ __forceinline__ int code_of(int level) const {
    const int code = 2 * abs(level) + static_cast<int>(static_cast<std::uint32_t>(level) >> 31) - subtrahend;
    // At suffixLength 0 the parity of level_prefix is the sign.
    if (kFlips && (suffix_length > 0 || code >= 14)) return code ^ static_cast<int>(flips & 1);
    return code;
  }

  __device__ __forceinline__ void follow(int k, int magnitude) {
    rest ^= 1u << k;
    subtrahend = 2;
    suffix_length = max(suffix_length, 1);
    if (magnitude > largest) {
      ++suffix_length;
      largest *= 2;
    }
    suffix_length = min(suffix_length, 6);
    if constexpr (kFlips) flips >>= 1;
  }
};

// Up to 32 bits, right-aligned.
struct BitString {
  std::uint32_t bits = 0;
  int length = 0;
};

// total_zeros and every run_before (9.2.3).
__device__ __forceinline__ BitString zeros_and_runs(std::uint32_t nonzero, int total_coeff,
                                                    int max_num_coeff) {
  const int zeros = core::highest_bit(nonzero) + 1 - total_coeff;
  const core::CodeWord total_zeros =
      core::total_zeros_code(total_coeff + (max_num_coeff == 4 ? core::kChromaDcTotalZeros : 0), zeros);
  const core::Runs runs = core::run_before_codes(nonzero);
  return {total_zeros.bits << runs.length | runs.bits, total_zeros.length + runs.length};
}

// `column`: core::coeff_token_column. `sink`: an empty BlockSink. Not for empty blocks. `levels` must hold
// what `signs` was taken from. All tables are looked up at once, before the levels are coded; then
// meanwhile(0) may load what is far away, which would hold the lookups up if it came before them.
template <class Sink, class Meanwhile, class Change = NoBlockChange>
__device__ __forceinline__ void put_nonempty_block(Sink& sink, const StagedLevels& levels, LevelSigns signs,
                                                   int max_num_coeff, int column, const Meanwhile& meanwhile,
                                                   const Change& change = {},
                                                   const typename Change::Key& key = {}) {
  std::uint32_t nonzero = signs.nonzero & ((1u << max_num_coeff) - 1);
  const std::uint32_t others = nonzero & ~signs.ones;
  const TrailingOnes trailing(nonzero & signs.ones & (~0u << (32 - __clz(others))), signs.negative);
  const int total_coeff = __popc(nonzero);
  const core::CodeWord token = core::coeff_token_code(column, total_coeff, trailing.count);
  std::uint32_t ones_signs = trailing.signs, flips = 0;
  LevelCoder<Change::kAny> coder{nonzero ^ trailing.mask, total_coeff > 10 && trailing.count < 3,
                                 trailing.count < 3 ? 4 : 2};
  if constexpr (Change::kAny) {
    flips = change.flips(key);
    ones_signs ^= __funnelshift_rc(__brev(flips), 0, 32 - trailing.count);
    coder.flips = flips >> trailing.count;
    if (total_coeff < max_num_coeff) nonzero = change.places(key, nonzero, total_coeff, max_num_coeff);
  }
  BitString end;
  if (total_coeff < max_num_coeff) end = zeros_and_runs(nonzero, total_coeff, max_num_coeff);
  meanwhile(end.length >> 8);  // zero, but the compiler cannot tell before
  sink.queue.start(token.bits << trailing.count | ones_signs, token.length + trailing.count);
  coder.put_all(sink, levels);
  sink.make_room();
  sink.queue.push_word(end.bits, end.length);
}

}  // namespace cu264::entropy
