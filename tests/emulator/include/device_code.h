// CUDA's keywords and warp functions, for kernels that are compiled as C++.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/emulator/thread_block.h"

#undef __shared__
#define __shared__ static  // blocks run one after another
#undef __align__
#define __align__(n) __attribute__((aligned(n)))
#undef __launch_bounds__
#define __launch_bounds__(...)

#include "device_arithmetic.h"

namespace cu264::emulator {

template <class Body>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const Body& body) {
  launch(grid, block, shared_bytes, nullptr, body);
}
template <class Body>
void launch(dim3 grid, dim3 block, const Body& body) {
  launch(grid, block, 0, nullptr, body);
}
template <class... Parameters, class... Arguments>
cudaError_t launch_configured(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                              const Arguments&... arguments) {
  launch(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
         [&] { kernel(arguments...); });
  return cudaSuccess;
}

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_memory());
}

template <class T>
LaneValues exchange_of(unsigned mask, T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return exchange(mask, bits);
}
template <class T>
T value_of(const LaneValues& values, int lane) {
  T value;
  std::memcpy(&value, &values.of[lane], sizeof(T));
  return value;
}
template <class T>
T from_lane(unsigned mask, T value, int source) {
  return value_of<T>(exchange_of(mask, value), source);
}
template <class T, class Operation>
T reduce(unsigned mask, T value, Operation operation) {
  const LaneValues values = exchange_of(mask, value);
  bool any = false;
  for (int i = 0; i < 32; ++i) {
    if ((mask >> i & 1) == 0) continue;
    value = any ? operation(value, value_of<T>(values, i)) : value_of<T>(values, i);
    any = true;
  }
  return value;
}

}  // namespace cu264::emulator

inline void __syncthreads() {
  cu264::emulator::wait_for_block();
}
inline int __syncthreads_count(int predicate) {
  return cu264::emulator::wait_for_block(predicate != 0);
}
inline int __syncthreads_or(int predicate) {
  return cu264::emulator::wait_for_block(predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate) {
  return cu264::emulator::wait_for_block(predicate == 0) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  cu264::emulator::exchange(mask, 0, true);
}
inline void __nanosleep(unsigned) {
  cu264::emulator::give_way();
}

// A lane whose source lies outside its group of `width` lanes keeps its own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int group = cu264::emulator::lane() & ~(width - 1);
  return cu264::emulator::from_lane(mask, value, group | (source & (width - 1)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flipped, int width = 32) {
  const int own = cu264::emulator::lane(), source = own ^ flipped;
  return cu264::emulator::from_lane(mask, value, (source & -width) > (own & -width) ? own : source);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const int own = cu264::emulator::lane(), by = static_cast<int>(distance);
  return cu264::emulator::from_lane(mask, value, (own & (width - 1)) >= by ? own - by : own);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  const int own = cu264::emulator::lane(), by = static_cast<int>(distance);
  return cu264::emulator::from_lane(mask, value, (own & (width - 1)) + by < width ? own + by : own);
}
// A texture of linear memory is its address.
template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int index) {
  return reinterpret_cast<const T*>(texture)[index];
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned own = predicate != 0 ? 1u << cu264::emulator::lane() : 0;
  return cu264::emulator::reduce(mask, own, [](unsigned a, unsigned b) { return a | b; });
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate == 0) == 0;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  const cu264::emulator::LaneValues values = cu264::emulator::exchange_of(mask, value);
  unsigned same = 0;
  for (int i = 0; i < 32; ++i) {
    if ((mask >> i & 1) != 0 && cu264::emulator::value_of<T>(values, i) == value) same |= 1u << i;
  }
  return same;
}
template <class T>
T __reduce_add_sync(unsigned mask, T value) {
  return cu264::emulator::reduce(mask, value, [](T a, T b) { return a + b; });
}
template <class T>
T __reduce_max_sync(unsigned mask, T value) {
  return cu264::emulator::reduce(mask, value, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
T __reduce_min_sync(unsigned mask, T value) {
  return cu264::emulator::reduce(mask, value, [](T a, T b) { return b < a ? b : a; });
}

// Outside CUDA sources the runtime takes kernels as plain pointers.
template <class... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(Parameters...), int threads,
                                                          std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, static_cast<const void*>(nullptr), threads,
                                                       shared_bytes);
}
