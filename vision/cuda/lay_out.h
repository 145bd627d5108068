// Arrays one after another in a piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264::vision::cuda {

// The next array, aligned to 256; `bytes` is what is taken so far. A null base only measures.
template <class T>
T* take(std::uint8_t* base, std::size_t& bytes, std::size_t count) {
  T* const at = base == nullptr ? nullptr : reinterpret_cast<T*>(base + bytes);
  bytes += (count * sizeof(T) + 255) / 256 * 256;
  return at;
}

}  // namespace cu264::vision::cuda
