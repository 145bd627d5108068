// Bit-sliced numbers: word b holds bit b of the numbers of 32 pixels, which are compared and added together.
#pragma once

#include <cstdint>

#include "vision/cuda/words.h"

namespace cu264::vision::cuda {

template <int kPlanes>
struct BitPlanes {
  std::uint32_t bit[kPlanes];

  // The words of the planes are `stride` words apart. Planes from `planes` on are zero.
  __device__ __forceinline__ void load(const std::uint32_t* d_planes, std::size_t stride,
                                       int planes = kPlanes) {
#pragma unroll
    for (int b = 0; b < kPlanes; ++b) bit[b] = b < planes ? d_planes[b * stride] : 0u;
  }
  __device__ __forceinline__ void store(std::uint32_t* d_planes, std::size_t stride,
                                        int planes = kPlanes) const {
#pragma unroll
    for (int b = 0; b < kPlanes; ++b) {
      if (b < planes) d_planes[b * stride] = bit[b];
    }
  }

  // The pixels whose number is greater than `value`, which is not negative.
  __device__ __forceinline__ std::uint32_t greater(int value) const {
    if (value >> kPlanes != 0) return 0;
    std::uint32_t greater = 0, equal = ~0u;
#pragma unroll
    for (int b = kPlanes - 1; b >= 0; --b) {
      const std::uint32_t wanted = (value >> b & 1) != 0 ? ~0u : 0u;
      greater |= equal & bit[b] & ~wanted;
      equal &= ~(bit[b] ^ wanted);
    }
    return greater;
  }

  __device__ __forceinline__ std::uint32_t at_least(int value) const {
    return value > 0 ? greater(value - 1) : ~0u;
  }

  __device__ __forceinline__ int at(std::uint32_t pixel) const {
    std::uint32_t value = 0;
#pragma unroll
    for (int b = 0; b < kPlanes; ++b) value |= (bit[b] >> pixel & 1u) << b;
    return static_cast<int>(value);
  }

  // The greatest number among `pixels`, which must not be empty.
  __device__ __forceinline__ int greatest(std::uint32_t pixels) const {
    int value = 0;
#pragma unroll
    for (int b = kPlanes - 1; b >= 0; --b) {
      const std::uint32_t with = pixels & bit[b];
      value = with != 0 ? value | 1 << b : value;
      pixels = with != 0 ? with : pixels;
    }
    return value;
  }

  template <int kOther>
  __device__ __forceinline__ void add(const BitPlanes<kOther>& other) {
    std::uint32_t carry = 0;
#pragma unroll
    for (int b = 0; b < kPlanes; ++b) {
      const std::uint32_t a = bit[b], o = b < kOther ? other.bit[b < kOther ? b : 0] : 0u;
      bit[b] = a ^ o ^ carry;
      carry = (a & o) | (a & carry) | (o & carry);
    }
  }
};

using LevelBits = BitPlanes<kLevelPlanes>;

}  // namespace cu264::vision::cuda
