// GVLE's steps 6 to 8: the scan by atomic additions, warp-codes in shared memory, coalesced stores. Sections
// are those of the paper. Unlike the paper's thread-codes, items may have fewer than 32 bits, or none.
// Several may end in one word, so the word is zeroed first and an atomic OR in shared memory joins them.
#include "entropy/pack/published/gvle_packer.h"

#include "entropy/pack/published/slice_packer.cuh"
#include "entropy/scan/gvle_scan.cuh"

namespace cu264::entropy {
namespace {

// Section 3.5: 512 words for 32 thread-codes, and one because they are shifted as in the output.
constexpr int kWarpCodeWords = 32 * kThreadWords + 1;

// Section 3.5: the warp-code in shared memory, in which the thread's code begins at bit `position`. A thread
// stores the words that it completes; after a barrier it adds its bits to the word that it does not complete.
__device__ __forceinline__ void build_warp_code(std::uint32_t* s_words, std::uint32_t position,
                                                const ThreadCode& code) {
  const std::uint32_t end = position + code.length;
  std::uint32_t* const s_rest = s_words + end / 32;
  const bool has_rest = code.length > 0 && end % 32 != 0;
  if (has_rest) *s_rest = 0;
  __syncwarp();
  std::uint32_t* s_word = s_words + position / 32;
  std::uint32_t used = position % 32, word = 0;
#pragma unroll
  for (int i = 0; i < kThreadWords; ++i) {
    const std::uint32_t bits = code.length_of(i), segment = code.segment(i);
    word |= segment >> used;
    used += bits;
    if (used < 32) continue;
    used -= 32;
    *s_word++ = word;
    word = __funnelshift_lc(0, segment, bits - used);
  }
  __syncwarp();
  if (has_rest) atomicOr(s_rest, word);
  __syncwarp();
}

// Section 3.6: copies the warp-code in coalesced stores. The first and the last word are shared with others.
__device__ __forceinline__ void write_warp_code(std::uint32_t* d_words, const std::uint32_t* s_words,
                                                std::uint32_t bits, int lane) {
  if (bits == 0) return;
  const int last = static_cast<int>((bits - 1) / 32);
  if (lane == 0) slice_packer::merge(d_words, s_words[0]);
#pragma unroll 4
  for (int i = 1 + lane; i < last; i += 32) d_words[i] = s_words[i];
  if (lane == 0 && last > 0) slice_packer::merge(d_words + last, s_words[last]);
}

struct GvleForm {
  using Scan = scan::GvleScan;
  struct Shared {
    std::uint32_t warp_codes[kPackWarps][kWarpCodeWords];
  };

  __device__ static __forceinline__ void write(std::uint32_t* d_slice, std::uint64_t position,
                                               const ThreadCode& code, Shared& shared) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const std::uint64_t of_warp = from_lane(position, 0);
    const auto shift = static_cast<std::uint32_t>(of_warp % 32);
    const auto in_warp = static_cast<std::uint32_t>(position - of_warp);
    std::uint32_t* const s_words = shared.warp_codes[threadIdx.x >> 5];
    build_warp_code(s_words, shift + in_warp, code);
    const std::uint32_t bits = from_lane(in_warp + code.length, 31);
    write_warp_code(d_slice + of_warp / 32, s_words, bits == 0 ? 0 : shift + bits, lane);
  }
};

}  // namespace

const Packer kGvlePacker{"gvle", slice_packer::scratch_bytes<GvleForm>, slice_packer::launch<GvleForm>};

}  // namespace cu264::entropy
