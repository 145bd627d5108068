// Four samples in a word, the first in its low byte. The kernels that use these do not write the planes that
// they read, which is what __ldg asks for.
#pragma once

#include <cstdint>

#include "core/intra_pred.h"

namespace cu264::encoder::cuda {

// Samples from any address, of which the words around are read.
__device__ inline std::uint32_t four_samples_at(const std::uint8_t* samples) {
  const auto address = reinterpret_cast<std::uintptr_t>(samples);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  return __funnelshift_r(__ldg(words), __ldg(words + 1), 8 * static_cast<std::uint32_t>(address & 3));
}

__device__ inline std::uint32_t aligned_word(const std::uint8_t* samples) {
  return __ldg(reinterpret_cast<const std::uint32_t*>(samples));
}

// Adds the absolute differences of four samples to a sum.
__device__ inline std::uint32_t add_differences(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  return __dp4a(__vabsdiffu4(a, b), 0x01010101u, sum);
#endif
}

// Four values, clipped to samples.
__device__ inline std::uint32_t clip_four(int a, int b, int c, int d) {
#if __CUDA_ARCH__ >= 720
  std::uint32_t upper, all;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(d), "r"(c));
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(upper));
  return all;
#else
  const auto clip = [](int value) { return static_cast<std::uint32_t>(core::clip_sample(value, 8)); };
  return clip(a) | clip(b) << 8 | clip(c) << 16 | clip(d) << 24;
#endif
}

}  // namespace cu264::encoder::cuda
