// Addresses in shared memory as numbers. With a pointer, a loop would add the base of the shared memory
// window for every use.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cu264::entropy {

#if defined(__CUDA_ARCH__)
using SharedAddress = std::uint32_t;

__device__ __forceinline__ SharedAddress address_of(const void* s_object) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(s_object));
}
template <class T>
__device__ __forceinline__ T& object_at(SharedAddress address) {
  return *static_cast<T*>(__cvta_shared_to_generic(address));
}
#else
using SharedAddress = std::uintptr_t;

inline SharedAddress address_of(const void* s_object) {
  return reinterpret_cast<SharedAddress>(s_object);
}
template <class T>
T& object_at(SharedAddress address) {
  return *reinterpret_cast<T*>(address);
}
#endif

// The lane's own address in an array of `bytes` bytes for each lane, which begins at s_first. It comes from
// a shuffle, so that the compiler keeps it in a register and does not compute it again for each use. All
// lanes must call this.
__device__ __forceinline__ SharedAddress own_address(const void* s_first, int bytes, int lane) {
  return __shfl_sync(0xffffffffu, address_of(s_first) + static_cast<SharedAddress>(bytes * lane), lane);
}

}  // namespace cu264::entropy
