// The arithmetic decoder of CABAC in I slices (H.264 9.3.1, 9.3.3.2), the inverse of core/cabac_encoder.h,
// for RBSPs that may be hostile. It is always 9 bits ahead of what the bins so far need. The last of these
// bits is at position(), and has the weight 1 in the codeword's value and its range.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/bitstream/rbsp.h"
#include "core/bit_ops.h"
#include "core/cabac_contexts.h"
#include "core/cabac_states.h"

namespace cu264::bitstream {

// Reads a padded RBSP, and zeros past its end. Bits up to position() may be changed while it reads.
class BinReader {
 public:
  // `slice_qp` is SliceQP_Y, 0..51. Begin a codeword before reading bins.
  BinReader(const Bytes& padded, int slice_qp)
      : bytes_(padded.data()), size_(without_padding(padded).size()) {
    for (int context = 0; context < core::kCabacContexts; ++context)
      states_[context] = core::initial_state(context, slice_qp);
  }

  // Begins a codeword at a byte, with the contexts as they are (9.3.1.2). Returns false if it is not one.
  bool begin_codeword(std::uint64_t byte) {
    next_ = byte;
    range_ = 510;
    offset_ = 0, ahead_ = -9;
    refill();
    return offset_ < std::uint64_t{510} << ahead_;
  }

  int decision(int context) {
    std::uint8_t& state = states_[context];
    const int lps = core::range_lps(state, range_);
    int bin = state & 1;
    range_ -= lps;
    const std::uint64_t scaled = static_cast<std::uint64_t>(range_) << ahead_;
    if (offset_ >= scaled) {
      offset_ -= scaled;
      range_ = lps;
      bin ^= 1;
    }
    state = static_cast<std::uint8_t>(core::next_state(state, bin));
    const int shift = 8 - core::highest_bit(static_cast<std::uint32_t>(range_));
    range_ <<= shift;
    consume(shift);
    return bin;
  }

  int bypass() {
    consume(1);
    const std::uint64_t scaled = static_cast<std::uint64_t>(range_) << ahead_;
    if (offset_ < scaled) return 0;
    offset_ -= scaled;
    return 1;
  }

  // After a bin of 1 the codeword has ended: position() is its last bit.
  int terminate() {
    range_ -= 2;
    if (offset_ >= static_cast<std::uint64_t>(range_) << ahead_) return 1;
    if (range_ < 256) {
      range_ <<= 1;
      consume(1);
    }
    return 0;
  }

  // The codeword's value is at least that of its bins, and exceeds it by less than this.
  int range() const { return range_; }
  // How far the value of a codeword that has ended lies above that of its bins: 0 or 1.
  int excess() const { return static_cast<int>(offset_ >> ahead_) - range_; }
  std::uint64_t position() const { return 8 * next_ - static_cast<std::uint64_t>(ahead_) - 1; }

 private:
  void consume(int bits) {
    ahead_ -= bits;
    if (ahead_ < 8) refill();  // no bin takes more
  }
  void refill() {
    std::uint32_t word = 0;
    if (next_ <= size_) std::memcpy(&word, bytes_ + next_, sizeof word);  // may reach into the padding
    offset_ = offset_ << 32 | __builtin_bswap32(word);
    next_ += sizeof word;
    ahead_ += 32;
  }

  const std::uint8_t* bytes_;
  std::uint64_t size_;
  std::uint64_t next_ = 0;    // the byte that is read next
  std::uint64_t offset_ = 0;  // codIOffset and the `ahead_` bits after it
  int ahead_ = 0;
  int range_ = 510;
  std::uint8_t states_[core::kCabacContexts];
};

}  // namespace cu264::bitstream
