// Counts the emulation prevention bytes of a part of an RBSP.
#pragma once

#include <cstdint>

#include "common/cuda/warp.cuh"
#include "entropy/pack/escapes.cuh"

namespace cu264::entropy {

// Counts in every `step`-th window of bytes, from the `begin`-th on, of a payload. All lanes must call this.
template <class Payload>
__device__ int count_escapes(const Payload& payload, int begin, int step, int lane) {
  constexpr int kWindow = 4 * 31;
  const auto first = static_cast<std::int64_t>(payload.first_byte());
  const auto word_at = [&](std::int64_t at) { return payload.word_at(static_cast<int>(at - first)); };
  int escapes = 0;
  // The first lane only provides the word in front of the second lane's word.
  for (int base = kWindow * begin; base < payload.bytes(); base += kWindow * step) {
    const int i = base + 4 * (lane - 1), bytes = min(payload.bytes() - i, 4);
    const std::uint32_t word = bytes > 0 ? payload.word_at(i) : 0;
    const std::uint32_t before = __shfl_up_sync(kAllLanes, word, 1);
    if (lane > 0 && bytes > 0 && may_need_escapes(before, word)) {
      escapes += __popc(escapes_in_word(first + i, bytes, word_at));
    }
    __syncwarp();
  }
  return warp_sum(escapes);
}

}  // namespace cu264::entropy
