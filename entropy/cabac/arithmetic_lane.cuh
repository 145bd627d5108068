// The arithmetic encoder of CABAC (H.264 9.3.4) as one lane of a warp runs it: branch-free over decisions,
// bypass bins and terminating bins. It gives the bits of core/cabac_encoder.h.
//
// `low` holds, from its lowest bit on, the nine bits of codILow that the range reaches, and above them
// `bits` bits that are final except for a carry. Where there are 32 of them, a word may leave. The word
// before it, which a carry may still reach, waits in `pending`; a carry through a whole word of ones goes on
// in memory, which hardly ever happens.
#pragma once

#include <cstdint>

#include "core/cabac_contexts.h"
#include "core/cabac_item.h"
#include "core/cabac_states.h"

namespace cu264::entropy {

// The context behind the real ones is that of terminating bins: its state has a subrange of 2 and stays
// (H.264 9.3.1.1, ctxIdx 276).
inline constexpr int kTerminateContext = core::kCabacContexts;
inline constexpr int kTerminateState = 2 * 63;

// A warp's lanes share this.
struct ArithmeticShared {
  // By state: codIRangeLPS for the four quarters of the range, and the states after an MPS and an LPS.
  uint2 rows[core::kCabacStates];
  // Each lane has its states in a bank of its own, four contexts to a word.
  std::uint32_t states[core::kCabacContexts / 4 + 1][32];

  __device__ __forceinline__ std::uint8_t* states_of(int lane) {
    return reinterpret_cast<std::uint8_t*>(&states[0][lane]);
  }
  // Returns where in its lane's states a context has its own.
  static __device__ __forceinline__ std::uint32_t place_of(std::uint32_t context) {
    return 32 * context - 31 * (context & 3);
  }

  // All lanes must call this, and __syncwarp() behind it.
  __device__ void fill_rows(int lane) {
    for (int state = lane; state < core::kCabacStates; state += 32) {
      std::uint32_t ranges = 0;
      for (int quarter = 0; quarter < 4; ++quarter) {
        ranges |= static_cast<std::uint32_t>(core::range_lps(state, 64 * (4 + quarter))) << 8 * quarter;
      }
      const int mps = state & 1;
      const auto stays = static_cast<std::uint32_t>(core::next_state(state, mps)),
                 leaves = static_cast<std::uint32_t>(core::next_state(state, 1 - mps));
      const auto own = static_cast<std::uint32_t>(state);
      rows[state] = {ranges, state >= kTerminateState ? own | own << 8 : stays | leaves << 8};
    }
  }
  // The states at the beginning of a slice of this QP.
  __device__ void start(int lane, int qp) {
#pragma unroll 1
    for (int context = 0; context < core::kCabacContexts; ++context) {
      set(lane, context, core::initial_state(context, qp));
    }
    set(lane, kTerminateContext, kTerminateState);
  }
  // Given states, which lie `stride` bytes apart.
  __device__ void start(int lane, const std::uint8_t* d_states, std::size_t stride) {
#pragma unroll 4
    for (int first = 0; first < core::kCabacContexts; first += 4) {
      std::uint32_t word = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (first + i < core::kCabacContexts)
          word |= static_cast<std::uint32_t>(d_states[static_cast<std::size_t>(first + i) * stride]) << 8 * i;
      }
      states[first / 4][lane] = word;
    }
    set(lane, kTerminateContext, kTerminateState);
  }

 private:
  __device__ __forceinline__ void set(int lane, int context, int state) {
    states_of(lane)[place_of(static_cast<std::uint32_t>(context))] = static_cast<std::uint8_t>(state);
  }
};

class ArithmeticLane {
 public:
  // The string begins at d_words and has room for `words` words; d_words[-1] is the guard.
  __device__ __forceinline__ ArithmeticLane(ArithmeticShared& s_shared, int lane, std::uint32_t* d_words,
                                            std::uint32_t words)
      : s_rows_(s_shared.rows),
        s_states_(s_shared.states_of(lane)),
        d_next_(d_words - 1),
        d_end_(d_words + words) {}

  // Codes `count` items, a multiple of 8, aligned to 16 bytes. put_samples(lane, macroblock) passes the
  // samples of an I_PCM macroblock to put_bits. With kRangeOnly only the states and the range go on.
  template <bool kRangeOnly = false, class PutSamples>
  __device__ __forceinline__ void code(const std::uint16_t* d_items, std::uint32_t count,
                                       const PutSamples& put_samples) {
    const auto* const d_quads = reinterpret_cast<const uint4*>(d_items);
    const std::uint32_t quads = count / 8;
    // Loads are three steps ahead. The body is not repeated, because all of it is to stay in the instruction
    // cache beside the search.
    uint4 next = load(d_quads, 0, quads), second = load(d_quads, 1, quads), third = load(d_quads, 2, quads);
#pragma unroll 1
    for (std::uint32_t at = 0; at < quads; ++at) {
      const uint4 quad = next;
      next = second, second = third, third = load(d_quads, at + 3, quads);
      if constexpr (kRangeOnly) {
        for (const std::uint32_t pair : {quad.x, quad.y, quad.z, quad.w}) {
          code_pair<true>(pair & 0xffff, pair >> 16);
        }
      } else {
        code_quad(quad, put_samples);
      }
    }
  }

  // Ends the codeword behind a terminating bin of 1 (9.3.4.5). Its last bit is rbsp_stop_one_bit or, before
  // I_PCM samples, a one that nobody reads.
  __device__ __forceinline__ void end_codeword() {
    low_ = low_ >> 7 | 1;
    bits_ += 2;
    give_word<0>();
  }

  // Between the end of a codeword and restart().
  __device__ __forceinline__ void put_bits(std::uint32_t value, int count) {
    low_ = low_ << count | value;
    bits_ += count;
    give_word<0>();
  }
  __device__ __forceinline__ void align() {
    put_bits(0, -bits_ & 7);
  }
  __device__ __forceinline__ void restart() {
    low_ <<= kRangeBits;
    range_ = kFirstRange;
  }

  __device__ __forceinline__ std::uint32_t range() const {
    return range_;
  }

  // Begins a piece of a string at d_words with the states that there are and low 0.
  __device__ __forceinline__ void begin_piece(std::uint32_t* d_words, std::uint32_t range) {
    d_next_ = d_words - 1;
    low_ = 0;
    range_ = range;
    pending_ = 0;
    bits_ = 0;
  }
  // Stores what is left of a piece with all of low. Returns the number of its bits without the nine of low
  // that the range reaches.
  __device__ __forceinline__ std::uint32_t finish_piece(const std::uint32_t* d_words) {
    bits_ += kRangeBits;
    give_word<0>();
    return finish(d_words) - kRangeBits;
  }

  // Stores what is left. Returns the number of the string's bits with its last one.
  __device__ __forceinline__ std::uint32_t finish(const std::uint32_t* d_words) {
    const auto before = static_cast<std::uint32_t>(d_next_ + 1 - d_words);  // words that have left
    const std::uint32_t string_bits = 32 * before + static_cast<std::uint32_t>(bits_);
    if (bits_ > 0) put_bits(0, 32 - bits_);
    leave(0);
    return string_bits;
  }

  // Tells whether the string did not fit.
  __device__ __forceinline__ bool broken() const {
    return broken_;
  }

 private:
  static constexpr int kRangeBits = 9;
  static constexpr std::uint32_t kFirstRange = 510;
  // The most bits that `low` may have when a pair of items begins, which adds up to 16; a carry takes one
  // more.
  static constexpr int kMostBits = 64 - kRangeBits - 16 - 1;

  static __device__ __forceinline__ uint4 load(const uint4* d_quads, std::uint32_t at, std::uint32_t quads) {
    return at < quads ? d_quads[at] : uint4{0, 0, 0, 0};
  }

  template <class PutSamples>
  __device__ __forceinline__ void code_quad(const uint4& quad, const PutSamples& put_samples) {
    const std::uint32_t pairs[4] = {quad.x, quad.y, quad.z, quad.w};
    // The upper two bits of an item of I_PCM are ones, and of no other.
    const auto pcm = [](std::uint32_t pair) { return pair & pair << 1 & 0x80008000u; };
    if ((pcm(quad.x) | pcm(quad.y) | pcm(quad.z) | pcm(quad.w)) != 0 || pcm_item_ >= 0) {
      return code_with_pcm(quad, put_samples);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      code_pair<false>(pairs[i] & 0xffff, pairs[i] >> 16);
      if (i < 3) make_room();
    }
    // Lanes wait for each other wherever one of them stores, so they hardly ever do it more often than this.
    give_word<kRangeBits>();
  }

  // An I_PCM macroblock has two items, which need not lie in the same quad.
  template <class PutSamples>
  __device__ __forceinline__ void code_with_pcm(uint4 quad, const PutSamples& put_samples) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t item = quad.x & 0xffff;
      quad.x = __funnelshift_r(quad.x, quad.y, 16);
      quad.y = __funnelshift_r(quad.y, quad.z, 16);
      quad.z = __funnelshift_r(quad.z, quad.w, 16);
      quad.w >>= 16;
      if (item >> 14 != static_cast<std::uint32_t>(core::CabacItemKind::pcm)) {
        code_pair<false>(item, core::kPaddingItem);
        make_room();
      } else if (pcm_item_ < 0) {
        pcm_item_ = static_cast<int>(item & 0x3fff);
      } else {
        end_codeword();
        align();
        put_samples(*this, pcm_item_ | static_cast<int>(item & 0x3fff) << 14);
        restart();
        pcm_item_ = -1;
      }
    }
  }

  // Items of the other kinds are larger than those of decisions.
  static __device__ __forceinline__ std::uint32_t context_of(std::uint32_t item) {
    return min(item >> 1, static_cast<std::uint32_t>(kTerminateContext));
  }

  // Both states are read before the first is stored, so that the two reads overlap, and the states are
  // finished before the ranges, which need them.
  template <bool kRangeOnly>
  __device__ __forceinline__ void code_pair(std::uint32_t first, std::uint32_t second) {
    const std::uint32_t context0 = context_of(first), context1 = context_of(second);
    std::uint8_t *const s_state0 = s_states_ + ArithmeticShared::place_of(context0),
                        *const s_state1 = s_states_ + ArithmeticShared::place_of(context1);
    const std::uint32_t state0 = *s_state0, read1 = *s_state1;
    const uint2 row0 = s_rows_[state0];
    const std::uint32_t lps0 = (state0 ^ first) & 1, next0 = next_state(row0, lps0);
    const std::uint32_t state1 = context1 == context0 ? next0 : read1;
    const uint2 row1 = s_rows_[state1];
    const std::uint32_t lps1 = (state1 ^ second) & 1, next1 = next_state(row1, lps1);
    *s_state0 = static_cast<std::uint8_t>(next0);
    *s_state1 = static_cast<std::uint8_t>(next1);
    code_item<kRangeOnly>(first, row0.x, lps0);
    code_item<kRangeOnly>(second, row1.x, lps1);
  }
  __device__ __forceinline__ void make_room() {
    if (bits_ > kMostBits) give_word<kRangeBits>();
  }

  static __device__ __forceinline__ std::uint32_t next_state(const uint2& row, std::uint32_t lps) {
    return __byte_perm(row.y, 0, 0x4440 | lps);
  }

  // `ranges`: the range of the LPS in each quarter. Bypass bins have an LPS of no range that does not occur,
  // which leaves the range as it is; everything else has no bypass bins.
  template <bool kRangeOnly>
  __device__ __forceinline__ void code_item(std::uint32_t item, std::uint32_t ranges, std::uint32_t lps) {
    static_assert(core::kPaddingItem == 1 << 14, "the bit that tells bypass bins from others");
    const auto bypass = static_cast<std::uint32_t>(static_cast<std::int32_t>(item << 17) >> 31);  // a mask
    const std::uint32_t range_lps = __byte_perm(0, ranges & ~bypass, range_ >> 6);
    const std::uint32_t range_mps = range_ - range_lps;
    const bool is_lps = (lps & ~bypass) != 0;
    const std::uint32_t range = is_lps ? range_lps : range_mps;
    const int shift = __clz(static_cast<int>(range)) - (32 - kRangeBits);
    if constexpr (!kRangeOnly) {
      const int count = shift + static_cast<int>(item >> 8 & 15 & bypass);
      low_ = ((low_ + (is_lps ? range_mps : 0)) << count) +
             static_cast<std::uint64_t>(item & 255 & bypass) * range_;
      bits_ += count;
    }
    range_ = range << shift;
  }

  // Lets a word leave if there are 32 bits above the lowest kBelow bits.
  template <int kBelow>
  __device__ __forceinline__ void give_word() {
    if (bits_ < 32) return;
    const int below = bits_ - 32 + kBelow;
    const std::uint64_t word = low_ >> below;
    low_ &= (std::uint64_t{1} << below) - 1;
    bits_ -= 32;
    if (word >> 32 != 0) carry();
    leave(static_cast<std::uint32_t>(word));
  }

  __device__ __forceinline__ void carry() {
    if (++pending_ != 0 || broken_) return;
    for (std::uint32_t* d_word = d_next_ - 1; ++*d_word == 0; --d_word) {
    }
  }

  // Stores the pending word; `word` is the next.
  __device__ __forceinline__ void leave(std::uint32_t word) {
    if (d_next_ == d_end_) {
      broken_ = true;
    } else {
      *d_next_++ = pending_;
    }
    pending_ = word;
  }

  const uint2* const s_rows_;
  std::uint8_t* const s_states_;
  std::uint32_t* d_next_;  // where the pending word goes
  std::uint32_t* const d_end_;
  std::uint64_t low_ = 0;
  std::uint32_t range_ = kFirstRange, pending_ = 0;
  int bits_ = 0;
  int pcm_item_ = -1;  // the first of the two items, if it has come
  bool broken_ = false;
};

}  // namespace cu264::entropy
