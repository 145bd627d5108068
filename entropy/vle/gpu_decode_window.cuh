// Every lane's own piece of the stream, in shared memory: codes are read from there, and vectors of the
// stream are fetched ahead of need, for all lanes at the same time. A lane that fetched a word whenever it
// runs dry would make its whole warp wait for memory at every code.
#pragma once

#include <cstdint>

#include "entropy/vle/gpu_decode_reader.cuh"

namespace cu264::vle::gpu_decode {

// 16 codes are at most 8 words, the first and the last of 9 in part.
constexpr int kBatch = 16;

class Window {
 public:
  static constexpr int kRows = 16;
  static constexpr int kWords = 32 * kRows;  // a warp's

  // Row r of the lane's window is column[32 * r].
  __device__ Window(const StreamView& stream, std::uint32_t* column, std::uint64_t position)
      : stream_(stream), column_(column), origin_(position / 128 * 4) {
    position_ = static_cast<std::uint32_t>(position - origin_ * 32);
    fill();
  }

  // By a whole warp, before, between and behind the halves of a batch. What the first two ask for is put into
  // the window by the next of them. Short codes need one vector a batch at most, and only long ones a second.
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

  // The next 32 bits; anything from kBatch codes behind `arrive` on is undefined.
  __device__ std::uint32_t bits() const {
    const std::uint32_t row = position_ / 32;
    return __funnelshift_l(column_[(row + 1) % kRows * 32], column_[row % kRows * 32], position_);
  }
  __device__ void skip(std::uint32_t bits) { position_ += bits; }
  __device__ std::uint64_t position() const { return origin_ * 32 + position_; }

 private:
  static constexpr int kNeeded = kBatch / 2 + 1;  // rows of a batch

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
  // Until the words of a batch are there, if more was read than could be foreseen.
  __device__ void fill() {
    while (position_ / 32 + kNeeded > filled_) put(stream_.vector((origin_ + filled_) / 4));
  }

  StreamView stream_;
  std::uint32_t* column_;
  std::uint64_t origin_;      // word of the stream that position_ counts from
  std::uint32_t position_;    // bits
  std::uint32_t filled_ = 0;  // words up to here are or were in the window
  std::uint32_t begin_ = 0;   // row in which the batch begins
  uint4 fetched_{};
  bool wanted_ = false;
};

}  // namespace cu264::vle::gpu_decode
