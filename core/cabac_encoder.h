// The arithmetic coder of CABAC (H.264 9.3.4), as a sink of bins.
//
// A wide `low` replaces the standard's register and its count of outstanding bits. Its 9 low bits are the
// standard's; the bits above are output that only a carry can still change. They are stored 32 at a time. A
// carry out of them is added to the bytes already stored, and never passes the codeword's first byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bit_ops.h"
#include "core/cabac_contexts.h"
#include "core/cabac_p_contexts.h"
#include "core/cabac_states.h"
#include "core/hd.h"

namespace cu264::core {

class CabacEncoder {
 public:
  // Writes into memory that the caller owns. It stores nothing past the end of that memory; overflowed() then
  // returns true. `slice_qp` is SliceQP_Y.
  CU264_HD_MEMBER CabacEncoder(std::uint8_t* bytes, std::size_t capacity, int slice_qp)
      : bytes_(bytes), capacity_(capacity) {
    for (int context = 0; context < kCabacContexts; ++context) {
      states_[context] = initial_state(context, slice_qp);
    }
  }
  // The same for a P slice.
  CU264_HD_MEMBER CabacEncoder(std::uint8_t* bytes, std::size_t capacity, int slice_qp, int cabac_init_idc)
      : bytes_(bytes), capacity_(capacity) {
    for (int context = 0; context < kCabacPContexts; ++context) {
      states_[context] = p_initial_state(context, slice_qp, cabac_init_idc);
    }
  }

  CU264_HD_MEMBER void decision(int context, int bin) {
    const int state = states_[context];
    const int lps = range_lps(state, range_);
    range_ -= lps;
    if ((state & 1) != bin) {
      low_ += static_cast<std::uint64_t>(range_);
      range_ = lps;
    }
    states_[context] = static_cast<std::uint8_t>(next_state(state, bin));
    shift(8 - highest_bit(static_cast<std::uint32_t>(range_)));
    ++bins_;
  }

  // 9.3.4.4, for several bins at once
  CU264_HD_MEMBER void bypass(std::uint32_t value, int count) {
    bins_ += static_cast<std::uint32_t>(count);
    while (count > 0) {
      const int part = count < kBypassAtOnce ? count : kBypassAtOnce;
      count -= part;
      low_ = (low_ << part) + ((value >> count) & ((1u << part) - 1)) * static_cast<std::uint64_t>(range_);
      pending_ += part;
      store_full_words();
    }
  }

  // After a bin of 1 the codeword must be ended.
  CU264_HD_MEMBER void terminate(int bin) {
    range_ -= 2;
    if (bin != 0) {
      low_ += static_cast<std::uint64_t>(range_);
    } else {
      shift(range_ < 256 ? 1 : 0);
    }
    ++bins_;
  }

  // Ends the codeword after a terminating bin of 1 (9.3.4.5). Its last bit is 1, which serves as
  // rbsp_stop_one_bit at the end of a slice. Zeros then align it, as I_PCM also requires.
  CU264_HD_MEMBER void finish() {
    low_ |= 1;
    pending_ += 9;  // all of low is output
    const int padding = -pending_ & 7;
    low_ <<= padding;
    pending_ += padding;
    carry(pending_);
    for (; pending_ > 0; pending_ -= 8) store(static_cast<std::uint8_t>(low_ >> (pending_ - 8)));
  }

  // Writes the samples of I_PCM, after finish().
  CU264_HD_MEMBER void put_byte(std::uint8_t byte) { store(byte); }

  // Begins another codeword with the same contexts (9.3.1.2).
  CU264_HD_MEMBER void restart() {
    low_ = 0;
    range_ = kFirstRange;
    pending_ = 0;
  }

  // Bytes stored, all of them after finish().
  CU264_HD_MEMBER std::size_t size() const { return size_; }
  CU264_HD_MEMBER bool overflowed() const { return overflowed_; }
  CU264_HD_MEMBER std::uint64_t bins() const { return bins_; }
  // Bits written so far, to within the eight that the range stands for.
  CU264_HD_MEMBER std::uint64_t bit_position() const {
    return 8 * static_cast<std::uint64_t>(size_) + static_cast<std::uint64_t>(pending_);
  }

 private:
  static constexpr int kFirstRange = 510;
  static constexpr int kBypassAtOnce = 16;

  CU264_HD_MEMBER void shift(int count) {
    low_ <<= count;
    range_ <<= count;
    pending_ += count;
    store_full_words();
  }

  CU264_HD_MEMBER void store_full_words() {
    if (pending_ < 32) return;
    const int rest = pending_ - 32 + 9;  // bits that stay in low
    carry(pending_ + 9);
    const auto word = static_cast<std::uint32_t>(low_ >> rest);
    for (int i = 24; i >= 0; i -= 8) store(static_cast<std::uint8_t>(word >> i));
    low_ &= (std::uint64_t{1} << rest) - 1;
    pending_ -= 32;
  }

  // Adds the part of low above its `bits` low bits to the bytes already stored.
  CU264_HD_MEMBER void carry(int bits) {
    if ((low_ >> bits) == 0) return;
    for (std::size_t i = size_; i > 0 && ++bytes_[i - 1] == 0;) --i;
  }

  CU264_HD_MEMBER void store(std::uint8_t byte) {
    if (size_ < capacity_) {
      bytes_[size_++] = byte;
    } else {
      overflowed_ = true;
    }
  }

  std::uint8_t* bytes_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t bins_ = 0;
  int range_ = kFirstRange;
  int pending_ = 0;  // bits of low above its 9 low bits, 0..31 between calls
  bool overflowed_ = false;
  std::uint8_t states_[kCabacPContexts];
};

// Returns how many cabac_zero_words (7.3.2.10) a picture must have after its last slice, so that it has no
// more than 32/3 bins for each byte of its NAL units and 96 for each macroblock (7.4.2.10). `bytes` counts
// NAL units without start codes but with emulation prevention bytes. In a NAL unit the word is stored as the
// bytes 00 00 03.
inline constexpr int kCabacZeroWordBytes = 3;

CU264_HD std::uint64_t cabac_zero_words(std::uint64_t bins, std::uint64_t bytes, std::uint64_t macroblocks) {
  const std::uint64_t three_times_bins = 3 * bins, free = 3 * 96 * macroblocks + 32 * bytes;
  return three_times_bins <= free ? 0 : (three_times_bins - free + 95) / 96;
}

}  // namespace cu264::core
