// The RBSP of a slice coded by CABAC: a slice header of whole bytes, then the bits of the arithmetic coder,
// which ends in rbsp_stop_one_bit (H.264 9.3.4.5).
#pragma once

#include <cstdint>

#include "core/slice_header.h"

namespace cu264::entropy {

class CabacPayload {
 public:
  // `d_words` holds the coder's `bytes` bytes, most significant first in each word.
  __device__ __forceinline__ CabacPayload(const core::SliceHeaderBits& header, const std::uint32_t* d_words,
                                          int bytes)
      : header_(header), d_words_(d_words), header_bytes_(header.length / 8), bytes_(bytes) {}

  __device__ __forceinline__ int bytes() const { return header_bytes_ + bytes_; }

  // Returns the four bytes from the i-th of the RBSP on; bytes outside of it are zero.
  __device__ __forceinline__ std::uint32_t word_at(int i) const {
    const int at = i - header_bytes_, word = at >> 2, shift = 8 * (at & 3);
    const std::uint32_t bits = __funnelshift_l(slice_word(word + 1), slice_word(word), shift);
    return at < 0 ? bits | header_word(i) : bits;
  }

 private:
  __device__ __forceinline__ std::uint32_t slice_word(int word) const {
    const int from = 4 * word;
    if (from < 0 || from >= bytes_) return 0;
    const int rest = bytes_ - from;
    return rest >= 4 ? d_words_[word] : d_words_[word] & ~(~0u >> 8 * rest);
  }

  // The header's share of word_at(i). Where the header has more than 64 bits, the leading ones are zeros.
  __device__ std::uint32_t header_word(int i) const {
    std::uint32_t word = 0;
    for (int k = 0; k < 4; ++k) {
      const int after = header_bytes_ - 1 - (i + k);  // bytes of the header after this one
      const bool stored = i + k >= 0 && after >= 0 && after < 8;
      word = word << 8 | (stored ? static_cast<std::uint32_t>(header_.bits >> 8 * after) & 255 : 0);
    }
    return word;
  }

  const core::SliceHeaderBits header_;
  const std::uint32_t* const d_words_;
  const int header_bytes_, bytes_;
};

// One of the parts of equal length into which warps divide a slice's RBSP; the last ones may be empty.
class CabacPiece {
 public:
  __device__ __forceinline__ CabacPiece(const CabacPayload& rbsp, int index, int pieces) : rbsp_(rbsp) {
    constexpr int kUnit = 128;
    const int length = ((rbsp.bytes() + pieces - 1) / pieces + kUnit - 1) / kUnit * kUnit;
    begin_ = min(index * length, rbsp.bytes());
    bytes_ = min(length, rbsp.bytes() - begin_);
    is_last_ = bytes_ > 0 && begin_ + bytes_ == rbsp.bytes();
  }

  __device__ __forceinline__ int first_byte() const { return begin_; }
  __device__ __forceinline__ int bytes() const { return bytes_; }
  __device__ __forceinline__ bool is_last() const { return is_last_; }
  __device__ __forceinline__ std::uint32_t word_at(int i) const { return rbsp_.word_at(begin_ + i); }

 private:
  const CabacPayload& rbsp_;
  int begin_, bytes_;
  bool is_last_;
};

}  // namespace cu264::entropy
