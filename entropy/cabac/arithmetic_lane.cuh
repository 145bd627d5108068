// The arithmetic encoder of CABAC (H.264 9.3.4) as one lane of a warp runs it. It has no branches for
// decisions, their signs and terminating bins; other items are rare. It produces the same bits as
// core/cabac_encoder.h.
//
// `low` holds, from its lowest bit on, the nine bits of codILow that the range reaches, and above them `bits`
// bits that are final except for a carry. Once there are 32 of these, a word may leave. The previous word,
// which a carry may still reach, waits in `pending`. A carry through a whole word of ones continues in
// memory, which hardly ever happens.
#pragma once

#include <cstdint>

#include "core/cabac_contexts.h"
#include "core/cabac_item.h"
#include "core/cabac_states.h"

namespace cu264::entropy {

// The context after the real ones is that of terminating bins. Its state has a subrange of 2 and never
// changes (H.264 9.3.1.1, ctxIdx 276).
inline constexpr int kTerminateContext = core::kCabacContexts;
inline constexpr int kTerminateState = 2 * 63;

// The next one is the context of bypass bins. Its state is read and stored, but never used.
inline constexpr int kBypassContext = kTerminateContext + 1;
static_assert(kBypassContext < kTerminateContext + core::kItemOnlyContexts);

// A state as lanes keep it: valMPS lies where items have their bin.
CU264_HD constexpr std::uint32_t lane_state(int state) {
  const auto own = static_cast<std::uint32_t>(state);
  return (own & ~7u) | (own & 1) << 2 | (own >> 1 & 3);
}
static_assert(lane_state(1) == core::kItemBin);

// A warp's lanes share this. kInter: slices may be P slices.
template <bool kInter = false>
struct ArithmeticShared {
  // Four contexts to a row, those of terminating and bypass bins included.
  static constexpr int kRows =
      (kInter ? core::kPItemContexts + 3 : core::kCabacContexts + core::kItemOnlyContexts + 3) / 4;

  // By state: codIRangeLPS for the four quarters of the range, and the states after an MPS and an LPS.
  uint2 rows[core::kCabacStates];
  // Each lane has its states in a bank of its own, four contexts to a word.
  std::uint32_t states[kRows][32];

  // All lanes must call this, and then __syncwarp().
  __device__ void fill_rows(int lane) {
    for (int state = lane; state < core::kCabacStates; state += 32) {
      std::uint32_t ranges = 0;
      for (int quarter = 0; quarter < 4; ++quarter) {
        ranges |= static_cast<std::uint32_t>(core::range_lps(state, 64 * (4 + quarter))) << 8 * quarter;
      }
      const int mps = state & 1;
      const std::uint32_t own = lane_state(state), stays = lane_state(core::next_state(state, mps)),
                          leaves = lane_state(core::next_state(state, 1 - mps));
      rows[own] = {ranges, state >= kTerminateState ? own | own << 8 : stays | leaves << 8};
    }
  }
  // The states at the beginning of an I slice of this QP.
  __device__ void start(int lane, int qp) {
#pragma unroll 1
    for (int context = 0; context < core::kCabacContexts; ++context) {
      set(lane, context, core::initial_state(context, qp));
    }
    set(lane, kTerminateContext, kTerminateState);
    set(lane, kBypassContext, 0);
  }
  // Given states, as lane_state() makes them, four to a word. Words lie `stride` apart.
  __device__ void start(int lane, const std::uint32_t* d_states, std::size_t stride) {
    if constexpr (kInter) {
#pragma unroll 16
      for (int row = 0; row < kRows; ++row)
        states[row][lane] = d_states[static_cast<std::size_t>(row) * stride];
      set(lane, kTerminateContext, kTerminateState);
      set(lane, kBypassContext, 0);
      return;
    }
    constexpr int kFullRows = core::kCabacContexts / 4;
    static_assert(core::kCabacContexts % 4 == 2, "the last word is half full");
#pragma unroll 16
    for (int row = 0; row < kFullRows; ++row)
      states[row][lane] = d_states[static_cast<std::size_t>(row) * stride];
    const std::uint32_t* const d_last = d_states + kFullRows * stride;
    states[kFullRows][lane] = *reinterpret_cast<const std::uint16_t*>(d_last);  // that of bypass bins is 0
    set(lane, kTerminateContext, kTerminateState);
  }

 private:
  __device__ __forceinline__ void set(int lane, int context, int state) {
    reinterpret_cast<std::uint8_t*>(&states[context / 4][lane])[context % 4] =
        static_cast<std::uint8_t>(lane_state(state));
  }
};

// kBounded: whether the slice may need more than its room.
template <bool kBounded>
class ArithmeticLane {
 public:
  // The slice's bits begin at d_words and has room for `words` words; d_words[-1] is the guard.
  template <bool kInter>
  __device__ __forceinline__ ArithmeticLane(ArithmeticShared<kInter>& s_shared, int lane,
                                            std::uint32_t* d_words, std::uint32_t words)
      : s_rows_(s_shared.rows),
        s_states_(reinterpret_cast<std::uint8_t*>(s_shared.states)),
        lane_place_(4 * static_cast<std::uint32_t>(lane)),
        d_next_(d_words - 1),
        d_end_(d_words + words) {}

  // Codes `count` items, a multiple of 8, aligned to 16 bytes. take_pcm(lane, macroblock) ends the codeword
  // before an I_PCM macroblock's samples, aligns it and handles the samples; the next codeword begins after
  // them. With kRangeOnly only the states and the range are kept up.
  template <bool kRangeOnly = false, class TakePcm>
  __device__ __forceinline__ void code(const std::uint16_t* d_items, std::uint32_t count, TakePcm& take_pcm) {
    const auto* const d_quads = reinterpret_cast<const uint4*>(d_items);
    const std::uint32_t quads = count / 8;
    // Loads run three steps ahead. The body is not unrolled, so that it fits in the instruction cache
    // together with the search.
    uint4 next = load(d_quads, 0, quads), second = load(d_quads, 1, quads), third = load(d_quads, 2, quads);
#pragma unroll 1
    for (std::uint32_t at = 0; at < quads; ++at) {
      const uint4 quad = next;
      next = second, second = third, third = load(d_quads, at + 3, quads);
      const std::uint32_t kinds = quad.x | quad.y | quad.z | quad.w;
      if ((kinds & 0xc000c000) == 0) {
        code_pairs<kRangeOnly, false>(quad);
      } else if ((kinds & 0x80008000) == 0) {
        code_pairs<kRangeOnly, true>(quad);
      } else {
        code_any<kRangeOnly>(quad, take_pcm);
      }
    }
  }

  // Ends the codeword after a terminating bin of 1 (9.3.4.5). Its last bit is rbsp_stop_one_bit or, before
  // I_PCM samples, a one that nobody reads.
  __device__ __forceinline__ void end_codeword() {
    cut_codeword();
    low_ |= 1;
    give_word<0>();
  }
  // The same, but leaves the last bit as it is.
  __device__ __forceinline__ void leave_codeword() {
    cut_codeword();
    give_word<0>();
  }

  // Between the end of a codeword and the next.
  __device__ __forceinline__ void put_bits(std::uint32_t value, int count) {
    low_ = low_ << count | value;
    bits_ += count;
    give_word<0>();
  }
  __device__ __forceinline__ void align() {
    put_bits(0, -bits_ & 7);
  }

  __device__ __forceinline__ std::uint32_t range() const {
    return range_;
  }

  // Begins a piece of a slice at d_words with the present states and low 0.
  __device__ __forceinline__ void begin_piece(std::uint32_t* d_words, std::uint32_t range) {
    d_next_ = d_words - 1;
    low_ = 0;
    range_ = range;
    pending_ = 0;
    bits_ = 0;
  }
  // The number of bits since the slice or piece at d_words began, without the nine of low that the range
  // reaches.
  __device__ __forceinline__ std::uint32_t bits_since(const std::uint32_t* d_words) const {
    const auto left = static_cast<std::uint32_t>(d_next_ + 1 - d_words);  // words that have left
    return 32 * left + static_cast<std::uint32_t>(bits_);
  }
  // Stores the rest of a piece, including all of low. Returns the number of its bits without the nine of low
  // that the range reaches.
  __device__ __forceinline__ std::uint32_t finish_piece(const std::uint32_t* d_words) {
    bits_ += kRangeBits;
    give_word<0>();
    return finish(d_words) - kRangeBits;
  }

  // Stores the rest. Returns the number of bits, the final one included.
  __device__ __forceinline__ std::uint32_t finish(const std::uint32_t* d_words) {
    const std::uint32_t bits = bits_since(d_words);
    if (bits_ > 0) put_bits(0, 32 - bits_);
    leave(0);
    return bits;
  }

  // Returns whether the slice exceeded its room.
  __device__ __forceinline__ bool broken() const {
    return broken_;
  }

 private:
  static constexpr int kRangeBits = 9;
  static constexpr std::uint32_t kFirstRange = 510;
  // The most bits that `low` may have when a pair of items begins. A pair adds up to 16, and a carry takes
  // one more.
  static constexpr int kMaxLowBits = 64 - kRangeBits - 16 - 1;

  static __device__ __forceinline__ uint4 load(const uint4* d_quads, std::uint32_t at, std::uint32_t quads) {
    return at < quads ? d_quads[at] : uint4{0, 0, 0, 0};
  }

  // Eight decisions, terminating ones among them and, if kBypass, bypass bins.
  template <bool kRangeOnly, bool kBypass>
  __device__ __forceinline__ void code_pairs(const uint4& quad) {
    const std::uint32_t pairs[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      code_pair<kRangeOnly, kBypass>(pairs[i], pairs[i] >> 16);
      if (!kRangeOnly && i < 3) make_room();
    }
    // All lanes wait whenever one of them stores, so stores are hardly ever more frequent than this.
    if (!kRangeOnly) give_word<kRangeBits>();
  }

  __device__ __forceinline__ void cut_codeword() {
    low_ >>= 7;
    bits_ += 2;
  }

  // Eight items, among which there is one of I_PCM. An I_PCM macroblock has two items, which need not lie in
  // the same quad, nor in the same chunk.
  template <bool kRangeOnly, class TakePcm>
  __device__ __forceinline__ void code_any(uint4 quad, TakePcm& take_pcm) {
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t item = quad.x & 0xffff;
      quad.x = __funnelshift_r(quad.x, quad.y, 16);
      quad.y = __funnelshift_r(quad.y, quad.z, 16);
      quad.z = __funnelshift_r(quad.z, quad.w, 16);
      quad.w >>= 16;
      const std::uint32_t kind = item >> 14;
      if (kind == 0) {
        code_one<kRangeOnly>(item);
      } else if (kind == 1) {
        const int count = static_cast<int>(item >> 8 & 15);
        if constexpr (!kRangeOnly) low_ = (low_ << count) + (item & 255) * range_, bits_ += count;
      } else if (kind == 2) {
        pcm_item_ = static_cast<int>(item & 0x3fff);
      } else {
        if constexpr (!kRangeOnly) {
          take_pcm(*this, pcm_item_ | static_cast<int>(item & 0x3fff) << 14);
          low_ <<= kRangeBits;
        }
        range_ = kFirstRange;
      }
      if constexpr (!kRangeOnly) give_word<kRangeBits>();
    }
  }

  static __device__ __forceinline__ bool is_bypass(std::uint32_t item) {
    return (item & core::kPaddingItem) != 0;
  }
  // The place of an item's state. Bits above the lower sixteen may have any value.
  template <bool kBypass = false>
  __device__ __forceinline__ std::uint8_t* state_of(std::uint32_t item) const {
    constexpr std::uint32_t kPlace = (kBypassContext & ~3) << 5 | (kBypassContext & 3);
    const std::uint32_t place = item & core::kItemContext;
    return s_states_ + ((kBypass && is_bypass(item) ? kPlace : place) | lane_place_);
  }
  static __device__ __forceinline__ bool is_lps(std::uint32_t state, std::uint32_t item) {
    std::uint32_t lps = (state ^ item) & core::kItemBin;
#if defined(__CUDA_ARCH__)
    // Without this the compiler builds masks from the bit by shifts where it could use a select.
    asm("" : "+r"(lps));
#endif
    return lps != 0;
  }
  static __device__ __forceinline__ std::uint32_t next_state(const uint2& row, bool lps) {
    return __byte_perm(row.y, 0, lps ? 0x4441 : 0x4440);
  }

  // Both states are read before the first is stored, so that the two reads overlap. The states are finished
  // before the ranges, which need them. A pair adds only a few bits to low.
  template <bool kRangeOnly, bool kBypass>
  __device__ __forceinline__ void code_pair(std::uint32_t first, std::uint32_t second) {
    std::uint8_t *const s_state0 = state_of<kBypass>(first), *const s_state1 = state_of<kBypass>(second);
    const std::uint32_t state0 = *s_state0, read1 = *s_state1;
    const uint2 row0 = s_rows_[state0];
    const bool lps0 = is_lps(state0, first);
    const std::uint32_t next0 = next_state(row0, lps0);
    const std::uint32_t state1 = s_state1 == s_state0 ? next0 : read1;
    const uint2 row1 = s_rows_[state1];
    const bool lps1 = is_lps(state1, second);
    *s_state0 = static_cast<std::uint8_t>(next0);
    *s_state1 = static_cast<std::uint8_t>(next_state(row1, lps1));
    std::uint32_t sum = 0;
    int bits = code_range<kRangeOnly, kBypass>(first, row0.x, lps0, sum);
    bits += code_range<kRangeOnly, kBypass>(second, row1.x, lps1, sum);
    if constexpr (!kRangeOnly) low_ = (low_ << bits) + sum, bits_ += bits;
  }
  template <bool kRangeOnly>
  __device__ __forceinline__ void code_one(std::uint32_t item) {
    std::uint8_t* const s_state = state_of(item);
    const std::uint32_t state = *s_state;
    const uint2 row = s_rows_[state];
    const bool lps = is_lps(state, item);
    *s_state = static_cast<std::uint8_t>(next_state(row, lps));
    std::uint32_t sum = 0;
    const int bits = code_range<kRangeOnly, false>(item, row.x, lps, sum);
    if constexpr (!kRangeOnly) low_ = (low_ << bits) + sum, bits_ += bits;
  }
  __device__ __forceinline__ void make_room() {
    if (bits_ > kMaxLowBits) give_word<kRangeBits>();
  }

  // The byte of the range's quarter. __byte_perm would mask the selector, which is 4 to 7.
  __device__ __forceinline__ std::uint32_t quarter_of(std::uint32_t ranges) const {
#if defined(__CUDA_ARCH__)
    std::uint32_t byte;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(byte) : "r"(0), "r"(ranges), "r"(range_ >> 6));
    return byte;
#else
    return __byte_perm(0, ranges, range_ >> 6);
#endif
  }

  // Takes the range through a decision and the sign after it, or through bypass bins. `ranges`: the range of
  // the LPS in each quarter. Returns by how many bits low shifts; `sum` shifts by the same number, and what
  // is added to low is added to `sum`.
  template <bool kRangeOnly, bool kBypass>
  __device__ __forceinline__ int code_range(std::uint32_t item, std::uint32_t ranges, bool lps,
                                            std::uint32_t& sum) {
    const std::uint32_t range_lps = quarter_of(ranges);
    const std::uint32_t range_mps = range_ - range_lps;
    const std::uint32_t range = lps ? range_lps : range_mps;
    const int shift = __clz(static_cast<int>(range)) - (32 - kRangeBits);
    const bool bypass = kBypass && is_bypass(item);
    if (!bypass) range_ = range << shift;
    if constexpr (kRangeOnly) return 0;
    const auto bits = static_cast<int>(bypass ? item >> 8 & 15 : shift + (item >> 3 & 1));
    const std::uint32_t of_bin = !bypass && lps ? range_mps : 0, bypassed = bypass ? (item & 255) * range_
                                                                            : (item & core::kItemSign) != 0
                                                                                ? range_
                                                                                : 0;
    sum = ((sum + of_bin) << bits) + bypassed;
    return bits;
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
    if (++pending_ != 0 || (kBounded && broken_)) return;
    for (std::uint32_t* d_word = d_next_ - 1; ++*d_word == 0; --d_word) {
    }
  }

  // Stores the pending word; `word` is the next.
  __device__ __forceinline__ void leave(std::uint32_t word) {
    if (kBounded && d_next_ == d_end_) {
      broken_ = true;
    } else {
      *d_next_++ = pending_;
    }
    pending_ = word;
  }

  const uint2* const s_rows_;
  std::uint8_t* const s_states_;
  const std::uint32_t lane_place_;
  std::uint32_t* d_next_;  // where the pending word goes
  std::uint32_t* const d_end_;
  std::uint64_t low_ = 0;
  std::uint32_t range_ = kFirstRange, pending_ = 0;
  int bits_ = 0;
  int pcm_item_ = 0;  // what the latest first item of an I_PCM macroblock said
  bool broken_ = false;
};

}  // namespace cu264::entropy
