// Holds a part of the stream for each lane in shared memory. Codes are read from there, and vectors of the
// stream are fetched ahead of need, for all lanes at the same time. If each lane fetched a word when it runs
// out, its whole warp would wait for memory at every code.
#pragma once

#include <cstdint>

#include "entropy/vle/gpu_decode_reader.cuh"

namespace cu264::vle::gpu_decode {

// 16 codes take at most 8 words, or parts of 9.
constexpr int kBatch = 16;

class Window {
 public:
  static constexpr int kRows = 16;
  static constexpr int kWords = 32 * kRows;  // words of a warp

  // Row r of the lane's window is column[32 * r].
  __device__ Window(const StreamView& stream, std::uint32_t* column, std::uint64_t position)
      : stream_(stream), column_(column), origin_(position / 128 * 4) {
    position_ = static_cast<std::uint32_t>(position - origin_ * 32);
    fill();
  }

  // A whole warp must call this before, between and after the halves of a batch. Each call puts into the
  // window what the previous one requested. Short codes need at most one vector for each batch; only long
  // codes need a second one.
  __device__ void ahead() {
    begin_ = position_ / 32;
    ask(begin_ + kRows - 4 >= filled_);
  }
  __device__ void midway() {
    take();
    const std::uint32_t row = position_ / 32, end = row + (row - begin_);
    ask(row + kRows - 4 >= filled_ && end + kNeeded > filled_);
  }
  __device__ void arrive() {
    take();
    fill();
  }

  // The next 32 bits. They are undefined from kBatch codes after `arrive` on.
  __device__ std::uint32_t bits() const {
    const std::uint32_t row = position_ / 32;
    return __funnelshift_l(column_[(row + 1) % kRows * 32], column_[row % kRows * 32], position_);
  }
  __device__ void skip(std::uint32_t bits) { position_ += bits; }
  __device__ std::uint64_t position() const { return origin_ * 32 + position_; }

 private:
  static constexpr int kNeeded = kBatch / 2 + 1;  // rows that a batch needs

  __device__ void ask(bool wanted) {
    wanted_ = wanted;
    if (wanted) fetched_ = stream_.vector((origin_ + filled_) / 4);
  }
  __device__ void take() {
    if (wanted_) put(fetched_);
  }
  __device__ void put(const uint4& four) {
    std::uint32_t* const row = column_ + filled_ % kRows * 32;
    row[0] = __byte_perm(four.x, 0, 0x0123);
    row[32] = __byte_perm(four.y, 0, 0x0123);
    row[64] = __byte_perm(four.z, 0, 0x0123);
    row[96] = __byte_perm(four.w, 0, 0x0123);
    filled_ += 4;
  }
  // Loads until the words of a batch are there, in case more was read than could be foreseen.
  __device__ void fill() {
    while (position_ / 32 + kNeeded > filled_) put(stream_.vector((origin_ + filled_) / 4));
  }

  StreamView stream_;
  std::uint32_t* column_;
  std::uint64_t origin_;      // the word of the stream from which position_ counts
  std::uint32_t position_;    // bits
  std::uint32_t filled_ = 0;  // words before this one are or were in the window
  std::uint32_t begin_ = 0;   // row in which the batch begins
  uint4 fetched_{};
  bool wanted_ = false;
};

}  // namespace cu264::vle::gpu_decode
