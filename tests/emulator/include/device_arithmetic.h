// The integer intrinsics and the atomics that kernels use, as the CUDA Math API and programming guide define
// them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x != 0 ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
inline int __clzll(long long x) {
  return x != 0 ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
  return reversed;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned choice = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (choice & 7))) & 255;
    if (choice & 8) byte = byte >> 7 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

namespace cu264::emulator {

// Functions on the unsigned bytes of a word.
template <int kBits, class Operation>
unsigned by_lane(unsigned a, unsigned b, Operation operation) {
  constexpr unsigned kMask = (1u << kBits) - 1;
  unsigned result = 0;
  for (int at = 0; at < 32; at += kBits) {
    const int x = static_cast<int>(a >> at & kMask), y = static_cast<int>(b >> at & kMask);
    result |= (static_cast<unsigned>(operation(x, y)) & kMask) << at;
  }
  return result;
}

}  // namespace cu264::emulator

#define CU264_BY_BYTE(name, expression)                                                \
  inline unsigned name(unsigned a, unsigned b) {                                       \
    return cu264::emulator::by_lane<8>(a, b, [](int x, int y) { return expression; }); \
  }
CU264_BY_BYTE(__vabsdiffu4, std::abs(x - y))
CU264_BY_BYTE(__vavgu4, (x + y + 1) / 2)
CU264_BY_BYTE(__vminu4, std::min(x, y))
CU264_BY_BYTE(__vmaxu4, std::max(x, y))
CU264_BY_BYTE(__vaddus4, std::min(x + y, 255))
CU264_BY_BYTE(__vsubus4, std::max(x - y, 0))
CU264_BY_BYTE(__vadd4, x + y)
CU264_BY_BYTE(__vsub4, x - y)
CU264_BY_BYTE(__vsetne4, x != y)
CU264_BY_BYTE(__vcmpeq4, x == y ? 255 : 0)
#undef CU264_BY_BYTE
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return cu264::emulator::by_lane<16>(a, b, [](int x, int y) { return std::max(x, y); });
}
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
  const unsigned sum = cu264::emulator::by_lane<16>(a, b, [](int x, int y) { return x + y; });
  return cu264::emulator::by_lane<16>(sum, c, [](int x, int y) { return std::min(x, y); });
}
inline int __dp4a(int a, int b, int sum) {
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::int8_t>(a >> 8 * i) * static_cast<std::int8_t>(b >> 8 * i);
  }
  return sum;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int i = 0; i < 4; ++i) sum += (a >> 8 * i & 255) * (b >> 8 * i & 255);
  return sum;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}

// The two of CUDA's global namespace, whatever mixture of types.
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return std::min(static_cast<T>(a), static_cast<T>(b));
}
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return std::max(static_cast<T>(a), static_cast<T>(b));
}

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
void __stcg(T* address, T value) {
  *address = value;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// One fiber runs at a time and does not yield within these functions, so plain code would do; but
// ThreadSanitizer has to see that they are atomic. They put nothing in order, as in CUDA.
#define CU264_ATOMIC(name, expression)                                                                \
  template <class T>                                                                                  \
  T name(T* address, std::type_identity_t<T> value) {                                                 \
    const std::atomic_ref memory(*address);                                                           \
    T old = memory.load(std::memory_order_relaxed);                                                   \
    while (!memory.compare_exchange_weak(old, static_cast<T>(expression), std::memory_order_relaxed)) \
      ;                                                                                               \
    return old;                                                                                       \
  }
CU264_ATOMIC(atomicAdd, old + value)
CU264_ATOMIC(atomicSub, old - value)
CU264_ATOMIC(atomicMax, std::max(old, value))
CU264_ATOMIC(atomicMin, std::min(old, value))
CU264_ATOMIC(atomicOr, old | value)
CU264_ATOMIC(atomicAnd, old& value)
CU264_ATOMIC(atomicXor, old ^ value)
CU264_ATOMIC(atomicExch, value)
#undef CU264_ATOMIC
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  std::atomic_ref(*address).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}
