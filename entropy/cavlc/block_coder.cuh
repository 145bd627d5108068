// residual_block_cavlc (H.264 7.3.5.3.2) of a block that a thread holds. It writes what put_block of
// core/cavlc_block.h writes, without loops over coefficients and runs.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bit_ops.h"
#include "core/cavlc_tables.h"
#include "entropy/cavlc/block_levels.cuh"
#include "entropy/cavlc/level_coder.cuh"
#include "entropy/cavlc/token_codes.cuh"
#include "entropy/cavlc/zeros_and_runs.h"

namespace cu264::entropy {

// The trailing ones (H.264 9.2.2): of the levels in `all`, which are 1 or -1 and precede all other levels,
// at most the first three.
struct TrailingOnes {
  std::uint32_t mask, signs;
  int count;

  __device__ __forceinline__ TrailingOnes(std::uint32_t all, std::uint32_t negative) {
    const std::uint32_t from2 = all & (all - 1), from3 = from2 & (from2 - 1), from4 = from3 & (from3 - 1);
    mask = all ^ from4;
    count = __popc(mask);
    signs = ((negative & (all ^ from2)) != 0 ? 4u : 0u) + ((negative & (from2 ^ from3)) != 0 ? 2u : 0u) +
            ((negative & (from3 ^ from4)) != 0 ? 1u : 0u);
    signs >>= 3 - count;
  }
};

// Leaves the symbols of a block as they are. Another SymbolTransform also has two functions of a block's
// key. flips(key) is a mask: bit i says whether level number i, counted from the highest frequency down,
// changes its sign. places(key, nonzero, total_coeff, max_num_coeff) is the mask of the positions to which
// the levels move; it is called if there is a position without a level.
struct NoBlockTransform {
  static constexpr bool kAny = false;
  struct Key {};
};

// The tables of the coder. tokens(column, total_coeff, trailing_ones) returns a Token.
template <class Tokens>
struct BlockTables {
  const std::uint32_t* d_zeros_and_runs;  // zeros_and_runs.h
  SharedAddress levels;                   // LevelCodes
  Tokens tokens;
};

// The properties of a block that are known before it is coded.
struct BlockSymbols {
  LevelSigns signs;
  int column;         // core::coeff_token_column
  std::uint32_t end;  // the entry in the table of zeros and runs
};

// max_num_coeff() returns how many levels the block can have; of the sixteen levels, those beyond that
// number are zero. The block must not be empty. The look-up takes as long as a load from memory: the caller
// should have other work to do before it codes the block.
template <class Tokens, class MaxNumCoeff, class SymbolTransform = NoBlockTransform>
__device__ __forceinline__ BlockSymbols symbols_of(const BlockTables<Tokens>& tables, const LevelSigns& signs,
                                                   int column, const MaxNumCoeff& max_num_coeff,
                                                   const SymbolTransform& transform = {},
                                                   const typename SymbolTransform::Key& key = {}) {
  std::uint32_t nonzero = __brev(signs.nonzero);
  if constexpr (SymbolTransform::kAny) {
    const int most = max_num_coeff(), total_coeff = __popc(nonzero);
    if (total_coeff < most) nonzero = transform.places(key, nonzero, total_coeff, most);
  }
  static_assert(kChromaDcZerosAndRuns == 4 << 14, "column 4 is chroma DC");
  const std::uint32_t entry = nonzero + ((static_cast<std::uint32_t>(column) & 4) << 14);
  return {signs, column, __ldg(tables.d_zeros_and_runs + entry)};
}

// Writes all but the block's end to an empty BlockSink. `levels` must hold the levels that the signs were
// taken from.
template <class Sink, class Tokens, class SymbolTransform = NoBlockTransform>
__device__ __forceinline__ void put_token_and_levels(Sink& sink, const BlockTables<Tokens>& tables,
                                                     const StagedLevels& levels, const BlockSymbols& symbols,
                                                     const SymbolTransform& transform = {},
                                                     const typename SymbolTransform::Key& key = {}) {
  const LevelSigns& signs = symbols.signs;
  const TrailingOnes trailing(signs.ones & ((signs.nonzero ^ signs.ones) - 1), signs.negative);
  const Token token = tables.tokens(symbols.column, __popc(signs.nonzero), trailing.count);
  LevelCoder<SymbolTransform::kAny> coder(tables.levels, __brev(signs.nonzero ^ trailing.mask), token.row);
  std::uint32_t ones_signs = trailing.signs;
  if constexpr (SymbolTransform::kAny) {
    const std::uint32_t flips = transform.flips(key);
    ones_signs ^= __funnelshift_rc(__brev(flips), 0, 32 - trailing.count);
    coder.flips = flips >> trailing.count;
  }
  sink.queue.start(token.code.bits << trailing.count | ones_signs, token.code.length + trailing.count);
  coder.put_all(sink, levels);
}

// The block's end, total_zeros and every run_before, for sink.put_last(). For a full block of fifteen levels
// it has one bit too many; true_end() corrects that.
__device__ __forceinline__ BitString end_of(const BlockSymbols& symbols) {
  return {symbols.end >> 5, static_cast<int>(symbols.end & 31)};
}
template <class MaxNumCoeff>
__device__ __forceinline__ BitString true_end(const BlockSymbols& symbols, const MaxNumCoeff& max_num_coeff) {
  return symbols.signs.nonzero == 0xfffe0000u && max_num_coeff() == 15 ? BitString() : end_of(symbols);
}
// The fewest bits of a full block of fifteen levels: 6 of coeff_token, 3 signs, 1 for the first level and 2
// for each of eleven more.
inline constexpr int kFullFifteenBits = 32;

}  // namespace cu264::entropy
