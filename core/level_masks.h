// Finds which levels of a block are non-zero and which are +-1, as masks: bit k for levels[k].
#pragma once

#include <cstdint>

#include "core/hd.h"

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

namespace cu264::core {

template <class Word>
struct BasicLevelMasks {
  Word nonzero = 0;
  Word ones = 0;
};
using LevelMasks = BasicLevelMasks<std::uint32_t>;
using LevelMasks8x8 = BasicLevelMasks<std::uint64_t>;  // of a block of 64

// The masks after level k has become `level`.
template <class Word>
CU264_HD BasicLevelMasks<Word> with_level(BasicLevelMasks<Word> masks, int k, int level) {
  const Word bit = Word{1} << k;
  return {level != 0 ? masks.nonzero | bit : masks.nonzero & ~bit,
          level == 1 || level == -1 ? masks.ones | bit : masks.ones & ~bit};
}

#if defined(__SSE2__) && !defined(__CUDACC__)

// max_num_coeff: 4, or 8 to 16. Written as a loop, this would take a third of the time of rate-distortion
// decisions.
CU264_HD LevelMasks level_masks(const std::int16_t* levels, int max_num_coeff) {
  const auto load = [levels](int k) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(levels + k)); };
  const bool few = max_num_coeff == 4;
  // The two halves overlap, so nothing beyond the block is read. Saturation leaves 0 and +-1 as they are and
  // maps no other value to them.
  const __m128i low = few ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(levels)) : load(0);
  const __m128i high = few ? _mm_setzero_si128() : load(max_num_coeff - 8);
  const __m128i bytes = _mm_packs_epi16(low, high);
  const auto mask = [max_num_coeff, few](__m128i equal) {
    const auto halves = static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
    return few ? halves & 15 : (halves & 255) | (halves >> 8) << (max_num_coeff - 8);
  };
  const std::uint32_t zero = mask(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
  return {zero ^ ((1u << max_num_coeff) - 1), mask(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(1)),
                                                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8(-1))))};
}

#else

CU264_HD LevelMasks level_masks(const std::int16_t* levels, int max_num_coeff) {
  LevelMasks masks;
#if defined(__CUDA_ARCH__)
  // nvcc 13.0 for sm_90 loses bits of `nonzero` when it unrolls this loop in a large kernel, as the parity
  // tests show.
#pragma unroll 1
#endif
  for (int k = 0; k < max_num_coeff; ++k) {
    const int level = levels[k];
    masks.nonzero |= static_cast<std::uint32_t>(level != 0) << k;
    masks.ones |= static_cast<std::uint32_t>(level == 1 || level == -1) << k;
  }
  return masks;
}

#endif

}  // namespace cu264::core
