// Loads a thread's symbols from memory of any alignment.
//
// Where the memory is aligned, a warp loads its symbols together, whole lines at a time, and exchanges them
// through shared memory when they are needed: if each thread read its own symbols directly, it would touch a
// line of its own.
#pragma once

#include <cstdint>

namespace cu264::vle::fast {

template <int kThreadSymbols>
struct Symbols {
  static constexpr int kWords = kThreadSymbols / 4;
  std::uint32_t words[kWords];  // the first symbol lowest

  // Loads kThreadSymbols symbols at input + start, all of which lie in the input. Only bytes of the input
  // are read: at its ends, where a whole word would reach beyond, it is read byte by byte.
  __device__ void load(const std::uint8_t* input, std::uint64_t size, std::uint64_t start) {
    const std::uint8_t* first = input + start;
    const int odd = static_cast<int>(reinterpret_cast<std::uintptr_t>(input) % 16);
    if (odd == 0) {
#pragma unroll
      for (int i = 0; i < kWords; i += 4) {
        put(i, __ldg(reinterpret_cast<const uint4*>(first) + i / 4));
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

  // Loads the lane's share of the warp's symbols at `first`, which is 16-byte aligned: every 32nd vector.
  __device__ void load_share(const std::uint8_t* first, int lane) {
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      put(i, __ldg(reinterpret_cast<const uint4*>(first) + 8 * i + lane));
    }
  }
  // Exchanges the shares so that each lane has its own symbols. `shared` holds 32 * kWords words, 16-byte
  // aligned. Vectors are swapped within groups of four, so that no two lanes of a wavefront use the same
  // bank.
  __device__ void exchange(std::uint32_t* shared, int lane) {
    static_assert(kThreadSymbols == 64);
    auto* const vectors = reinterpret_cast<uint4*>(shared);
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      vectors[8 * i + (lane ^ (lane >> 3 & 3))] =
          make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kWords; i += 4) put(i, vectors[4 * lane + (i / 4 ^ (lane >> 1 & 3))]);
    __syncwarp();
  }

 private:
  __device__ void put(int i, const uint4& four) {
    words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
  }
};

}  // namespace cu264::vle::fast
