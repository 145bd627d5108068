// A thread's symbols, from memory of any alignment.
#pragma once

#include <cstdint>

namespace cu264::vle::fast {

template <int kThreadSymbols>
struct Symbols {
  static constexpr int kWords = kThreadSymbols / 4;
  std::uint32_t words[kWords];  // the first symbol lowest

  // All kThreadSymbols of them lie at input + start. Only bytes of the input are read: its edges, where a
  // whole word would reach beyond, are read byte by byte.
  __device__ void load(const std::uint8_t* input, std::uint64_t size, std::uint64_t start) {
    const std::uint8_t* first = input + start;
    const int odd = static_cast<int>(reinterpret_cast<std::uintptr_t>(input) % 16);
    if (odd == 0) {
#pragma unroll
      for (int i = 0; i < kWords; i += 4) {
        const uint4 four = __ldg(reinterpret_cast<const uint4*>(first) + i / 4);
        words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
      }
    } else if (odd % 4 == 0) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) words[i] = __ldg(reinterpret_cast<const std::uint32_t*>(first) + i);
    } else if (start >= 4 && size - start >= kThreadSymbols + 4) {
      const auto* aligned = reinterpret_cast<const std::uint32_t*>(first - odd % 4);
      std::uint32_t low = __ldg(aligned);
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const std::uint32_t high = __ldg(aligned + i + 1);
        words[i] = __funnelshift_r(low, high, 8 * (odd % 4));
        low = high;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        words[i] = first[4 * i] | first[4 * i + 1] << 8 | first[4 * i + 2] << 16 |
                   static_cast<std::uint32_t>(first[4 * i + 3]) << 24;
      }
    }
  }
};

}  // namespace cu264::vle::fast
