// Writes the bytes of a NAL unit. A payload is a part of an RBSP: word_at(i) returns its four bytes from the
// i-th on, and also bytes before it; bytes() is its size, and first_byte() where it begins.
#pragma once

#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "core/nal.h"
#include "entropy/pack/escapes.cuh"
#include "entropy/pack/pack_stages.cuh"

namespace cu264::entropy {

// Writes bytes i to i + 3, as far as they exist.
template <class Payload>
__device__ __forceinline__ void write_word(const Payload& payload, std::uint8_t* d_out, int i) {
  const std::uint32_t word = payload.word_at(i);
  if (i >= 0 && i + 4 <= payload.bytes()) {
    *reinterpret_cast<std::uint32_t*>(d_out + i) = __byte_perm(word, 0, 0x0123);
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (i + k >= 0 && i + k < payload.bytes()) d_out[i + k] = byte_of(word, k);
  }
}

// Writes a payload that holds emulation prevention bytes. All lanes must call this.
template <class Payload>
__device__ void write_escaped(const Payload& payload, std::uint8_t* d_out, int lane) {
  const auto first = static_cast<std::int64_t>(payload.first_byte());
  const auto word_at = [&](std::int64_t at) { return payload.word_at(static_cast<int>(at - first)); };
  for (int base = 0; base < payload.bytes(); base += 4 * 32) {
    const int i = base + 4 * lane, bytes = max(0, min(payload.bytes() - i, 4));
    const std::uint32_t word = bytes > 0 ? payload.word_at(i) : 0;
    const std::uint32_t escapes = bytes > 0 ? escapes_in_word(first + i, bytes, word_at) : 0;
    __syncwarp();
    const int written = scan_lanes(bytes + __popc(escapes), Plus());
    std::uint8_t* d_to = d_out + written - bytes - __popc(escapes);
    for (int k = 0; k < bytes; ++k) {
      if ((escapes >> k) & 1) *d_to++ = core::kEmulationPreventionByte;
      *d_to++ = byte_of(word, k);
    }
    d_out += __shfl_sync(kAllLanes, written, 31);
  }
}

// Writes the start code and the header before the payload of a slice.
__device__ inline void write_prefix(std::uint8_t* d_payload, const SliceRecord& slice) {
  d_payload[-1] = static_cast<std::uint8_t>(slice.nal_unit_header);
  d_payload[-2] = 1;
#pragma unroll 1
  for (int i = 3; i <= static_cast<int>(slice.prefix_bytes); ++i) d_payload[-i] = 0;
}

}  // namespace cu264::entropy
