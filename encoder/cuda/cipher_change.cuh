// Encryption while a group is coded: a SymbolTransform of entropy/cavlc/group_coder.cuh, with the group's
// keystream in the memory of its bits (group_keystream.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cu264/protect.h"
#include "encoder/cuda/group_keystream.cuh"
#include "entropy/cavlc/group_coder.cuh"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "protect/level_cipher.h"

namespace cu264::encoder::cuda {

// kPlaces: of codewords too.
template <bool kPlaces>
class CipherChange {
 public:
  static constexpr bool kAny = true;
  static constexpr int kBlocksPerSm = 6;  // as many as shared memory has room for

  struct Plan {
    EncryptionParts parts;
    CU264_HD_MEMBER bool levels() const { return parts.signs || parts.codewords; }
  };
  // The words that hold the block's bits of keystream; after settle() those bits, from the first on.
  struct Key {
    std::uint32_t words[kPlaces ? 3 : 1];
    bool odd;  // key_layout.h: begins in the upper half
  };

  __device__ __forceinline__ CipherChange(const Plan& plan, const core::BatchView& batch,
                                          const entropy::MacroblockLane& mb, const std::uint32_t* d_words,
                                          int lane)
      : parts_(plan.parts),
        d_words_(entropy::warp_uniform(d_words)),
        own_(batch, mb, plan.levels(), lane),
        lane_(lane) {}

  template <class Sink>
  __device__ __forceinline__ void put_header(Sink& sink, const entropy::MacroblockLane& mb,
                                             const entropy::Neighbours& neighbours) const {
    core::MacroblockRecord changed = mb.record;
    protect::AesBlock key{};  // which changes nothing
    const bool left = !mb.edges.no_left, above = !mb.edges.no_above;
    if (parts_.modes) {
      const uint4 words = reinterpret_cast<const uint4*>(d_words_)[lane_];
      key = {{words.x, words.y, words.z, words.w}};
      protect::encrypt_other_modes(changed, left, above, key);
    }
    const bool at_edge = parts_.modes && !(left && above);
    mb.put_changed_header(sink, neighbours, changed, [&](int quad, std::uint32_t rem) {
      // With neighbours everywhere that is encrypt_rem_mode of all four.
      if (!at_edge) return rem ^ (key.words[quad] & 0x07070707u);
      return changed_at_edge(rem, key.words[quad], quad, left, above);
    });
  }

  // All lanes.
  __device__ __forceinline__ Key key(int m, int slot) const {
    Key key{};
    if (!kPlaces && !parts_.signs) return key;
    const auto of = [m](auto own) { return __shfl_sync(0xffffffffu, own, m); };
    const protect::KeyLayout layout{of(own_.layout.nonzero), of(own_.layout.from4), of(own_.layout.from7)};
    const auto unit = static_cast<std::uint32_t>(8 * of(own_.first) + layout.units_before(slot));
    const std::uint32_t* const d_word = d_words_ + (unit >> 1);
    key.odd = (unit & 1) != 0;
    key.words[0] = d_word[0];
    if constexpr (kPlaces) {
      const bool from7 = (layout.from7 >> slot & 1) != 0;
      if (key.odd ? (layout.from4 >> slot & 1) != 0 : from7) key.words[1] = d_word[1];
      if (from7) key.words[2] = d_word[2];
    }
    return key;
  }
  __device__ __forceinline__ static void settle(Key& key) {
    if constexpr (kPlaces) {
      const auto bits = protect::BlockBits::aligned(key.words[0], key.words[1], key.words[2], key.odd);
      for (int i = 0; i < 3; ++i) key.words[i] = bits.words[i];
    } else if (key.odd) {
      key.words[0] >>= 16;
    }
  }

  __device__ __forceinline__ std::uint32_t flips(const Key& key) const {
    return parts_.signs ? key.words[0] : 0;
  }
  __device__ __forceinline__ static std::uint32_t places(const Key& key, std::uint32_t nonzero,
                                                         int total_coeff, int max_num_coeff) {
    if constexpr (!kPlaces) return nonzero;
    const protect::BlockBits bits{{key.words[0], key.words[1], key.words[2]}};
    return protect::encrypt_places(nonzero, total_coeff,
                                   protect::total_zeros_choice(nonzero, total_coeff, max_num_coeff),
                                   bits.key(total_coeff).places);
  }

 private:
  // Of a quad that may have blocks without a neighbour.
  __device__ __noinline__ static std::uint32_t changed_at_edge(std::uint32_t rem, std::uint32_t key, int quad,
                                                               bool left, bool above) {
    std::uint32_t changed = 0;
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      const int block = 4 * quad + i;
      const int other =
          protect::encrypt_rem_mode(static_cast<int>(rem >> (8 * i) & 7), (block & 5) != 0 || left,
                                    (block & 10) != 0 || above, key >> (8 * i) & 255, false);
      changed |= static_cast<std::uint32_t>(other) << (8 * i);
    }
    return changed;
  }

  const EncryptionParts& parts_;
  const std::uint32_t* const d_words_;
  const MacroblockKeystream own_;
  const int lane_;
};

}  // namespace cu264::encoder::cuda
