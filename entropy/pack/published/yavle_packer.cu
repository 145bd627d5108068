// YAVLE's steps 5 and 6: the scan by looking back, and threads that write their codes word by word to global
// memory. Sections are those of the GVLE paper.
#include "entropy/pack/published/yavle_packer.h"

#include "entropy/pack/published/slice_packer.cuh"
#include "entropy/scan/published/yamamoto_scan.cuh"

namespace cu264::entropy {
namespace {

struct YavleForm {
  using Scan = scan::YamamotoScan;
  struct Shared {};

  // Section 2.3.3. The first and the last word may be shared with other threads.
  __device__ static __forceinline__ void write(std::uint32_t* d_slice, std::uint64_t position,
                                               const ThreadCode& code, Shared&) {
    if (code.length == 0) return;
    std::uint32_t* d_word = d_slice + position / 32;
    std::uint32_t used = static_cast<std::uint32_t>(position % 32), word = 0;
    bool first = true;
#pragma unroll
    for (int i = 0; i < kThreadWords; ++i) {
      const std::uint32_t bits = code.length_of(i), segment = code.segment(i);
      word |= segment >> used;
      used += bits;
      if (used < 32) continue;
      used -= 32;
      if (first) {
        slice_packer::merge(d_word, word);
      } else {
        *d_word = word;
      }
      first = false;
      ++d_word;
      word = __funnelshift_lc(0, segment, bits - used);
    }
    if (used > 0) slice_packer::merge(d_word, word);
  }
};

}  // namespace

const Packer kYavlePacker{"yavle", slice_packer::scratch_bytes<YavleForm>, slice_packer::launch<YavleForm>};

}  // namespace cu264::entropy
