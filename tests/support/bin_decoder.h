// The arithmetic decoder of CABAC, a bit at a time as H.264 9.3.1 and 9.3.3.2 have it. Contexts go by the
// standard's ctxIdx. It shares the tables of core/ with the product; that these are right is shown by
// libavcodec, which decodes the same streams.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/cabac_contexts.h"
#include "core/cabac_states.h"
#include "tests/support/nal_units.h"

namespace cu264::test {

class BinDecoder {
 public:
  BinDecoder(std::span<const std::uint8_t> rbsp, std::size_t position, int slice_qp)
      : rbsp_(rbsp), position_(position) {
    states_.fill(kUnused);
    for (int context = 0; context < core::kCabacContexts; ++context) {
      states_[static_cast<std::size_t>(core::ctx_idx(context))] = core::initial_state(context, slice_qp);
    }
    restart();
  }

  // 9.3.1.2
  void restart() {
    if (position_ % 8 != 0) throw StreamError("a codeword begins within a byte");
    range_ = 510, offset_ = 0;
    for (int i = 0; i < 9; ++i) offset_ = offset_ << 1 | bit();
    if (offset_ >= 510) throw StreamError("codIOffset is 510 or 511");
  }

  int decision(int ctxIdx) {
    std::uint8_t& state = states_.at(static_cast<std::size_t>(ctxIdx));
    if (state == kUnused) throw StreamError("ctxIdx " + std::to_string(ctxIdx) + " is not one of an I slice");
    const int lps = core::range_lps(state, range_);
    int bin = state & 1;
    range_ -= lps;
    if (offset_ >= range_) {
      bin ^= 1;
      offset_ -= range_;
      range_ = lps;
    }
    state = static_cast<std::uint8_t>(core::next_state(state, bin));
    renormalise();
    ++bins_;
    used_.set(static_cast<std::size_t>(ctxIdx));
    return bin;
  }

  int bypass() {
    offset_ = offset_ << 1 | bit();
    ++bins_;
    if (offset_ < range_) return 0;
    offset_ -= range_;
    return 1;
  }

  // After a bin of 1 the last bit that was read ends the codeword: rbsp_stop_one_bit at the end of a slice.
  int terminate() {
    range_ -= 2;
    ++bins_;
    if (offset_ >= range_) {
      if (position_ > 8 * rbsp_.size() || (rbsp_[(position_ - 1) / 8] >> (7 - (position_ - 1) % 8) & 1) == 0)
        throw StreamError("a codeword does not end with a bit of 1");
      return 1;
    }
    renormalise();
    return 0;
  }

  // Bits read so far, nine of which are ahead of the bins.
  std::size_t position() const { return position_; }
  // pcm_alignment_zero_bit and pcm samples
  void skip_pcm(std::size_t samples) {
    while (position_ % 8 != 0) {
      if (bit() != 0) throw StreamError("pcm_alignment_zero_bit is 1");
    }
    position_ += 8 * samples;
    if (position_ > 8 * rbsp_.size()) throw StreamError("I_PCM runs past the end");
  }
  std::uint64_t bins() const { return bins_; }
  const std::bitset<1024>& contexts() const { return used_; }  // those that a bin had

 private:
  static constexpr std::uint8_t kUnused = 255;

  int bit() {
    const std::size_t at = position_++;
    return at / 8 < rbsp_.size() ? rbsp_[at / 8] >> (7 - at % 8) & 1 : 0;
  }
  void renormalise() {
    for (; range_ < 256; range_ <<= 1) offset_ = offset_ << 1 | bit();
  }

  std::span<const std::uint8_t> rbsp_;
  std::size_t position_;
  int range_ = 510;
  int offset_ = 0;
  std::uint64_t bins_ = 0;
  std::bitset<1024> used_;
  std::array<std::uint8_t, 1024> states_{};
};

}  // namespace cu264::test
