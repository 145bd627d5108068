// Codes the levels of a block that are not trailing ones (H.264 9.2.2). Most levels are small. Their codes
// are entries of a table, and each entry also names the row of the table in which the next level is looked
// up.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "core/bit_ops.h"
#include "core/cavlc_block.h"
#include "entropy/cavlc/block_levels.cuh"
#include "entropy/cavlc/word_sink.cuh"

namespace cu264::entropy {

inline constexpr int kTabledLevel = 7;  // the largest magnitude in the table
inline constexpr int kLevelsPerRow = 2 * (kTabledLevel + 1);

// A row stands for the state that the levels so far lead to: suffixLength, and whether the next level cannot
// be 1 or -1.
enum LevelRow : std::uint32_t {
  kRowFirst,     // suffixLength 0; the level cannot be 1 or -1
  kRowAny,       // suffixLength 0
  kRowFirstOf1,  // suffixLength 1; the level cannot be 1 or -1
  kRowOf1,       // suffixLength 1; the rows for 2 to 6 follow
  kLevelRows = kRowOf1 + 6
};
CU264_HD constexpr bool cannot_be_one(std::uint32_t row) {
  return row == kRowFirst || row == kRowFirstOf1;
}
CU264_HD constexpr int suffix_length_of(std::uint32_t row) {
  return row <= kRowAny ? 0 : row == kRowFirstOf1 ? 1 : static_cast<int>(row - kRowOf1) + 1;
}

// The row of the first level (H.264 9.2.2).
CU264_HD constexpr LevelRow first_row(int total_coeff, int trailing_ones) {
  return trailing_ones == 3 ? kRowAny : total_coeff > 10 ? kRowFirstOf1 : kRowFirst;
}

// An entry is: the code's bits << 9 | the next level's row << kRowShift | the code's length.
inline constexpr int kRowShift = 5;
inline constexpr std::uint32_t kRowMask = 15u << kRowShift;

CU264_HD constexpr std::uint16_t level_entry(std::uint32_t row, int level) {
  const int magnitude = level < 0 ? -level : level, suffix_length = suffix_length_of(row);
  if (magnitude > kTabledLevel || magnitude <= (cannot_be_one(row) ? 1 : 0)) return 0;  // no such code
  RegisterSink code;
  core::put_level(code, core::level_code(level, cannot_be_one(row)), suffix_length);
  const int next = core::next_suffix_length(suffix_length, magnitude);
  return static_cast<std::uint16_t>(code.value << 9 | (kRowOf1 + next - 1) << kRowShift | code.length);
}

template <int... i>
__device__ __forceinline__ std::uint16_t level_entry_at(std::integer_sequence<int, i...>, int index) {
  static constexpr std::uint16_t table[] = {
      level_entry(i / kLevelsPerRow, i % kLevelsPerRow - kTabledLevel)...};
  return table[index];
}

// The table in shared memory. It must be aligned to kAlignment, because the offset of a row is ORed to the
// table's address.
struct LevelCodes {
  static constexpr int kAlignment = 16 << kRowShift;

  std::uint16_t entries[kLevelRows * kLevelsPerRow];

  // The table's address, kept in a register by own_address(). All lanes must call this.
  __device__ __forceinline__ SharedAddress address() const { return own_address(entries, 0, 0); }

  // Fills the table. All kThreads threads of a block must call this.
  template <int kThreads>
  __device__ __forceinline__ void fill() {
    constexpr int kEntries = kLevelRows * kLevelsPerRow;
#pragma unroll
    for (int first = 0; first < kEntries; first += kThreads) {
      const int i = first + static_cast<int>(threadIdx.x);
      if (i < kEntries) entries[i] = level_entry_at(std::make_integer_sequence<int, kEntries>{}, i);
    }
  }
};
static_assert(kLevelsPerRow * sizeof(LevelCodes::entries[0]) == 1 << kRowShift, "kRowMask selects a row");

// Codes one level after the other, from the highest frequency down. With kFlips, bit i of `flips` says that
// level number i gets the other sign, provided that its code has a separate sign bit.
template <bool kFlips>
class LevelCoder {
 public:
  std::uint32_t flips = 0;

  // `codes` is LevelCodes::address(). Bit k of `rest` says that level k is to be coded. `row` is the row of
  // the first of them, << kRowShift.
  __device__ __forceinline__ LevelCoder(SharedAddress codes, std::uint32_t rest, std::uint32_t row)
      : codes_(codes), rest_(rest), row_(codes | row) {}

  template <class Sink>
  __device__ __forceinline__ void put_all(Sink& sink, const StagedLevels& levels) {
    if (rest_ == 0) return;
#pragma unroll 1
    do {
      const int k = core::highest_bit(rest_);
      int level = levels[k];
      if (static_cast<unsigned>(level + kTabledLevel) > 2 * kTabledLevel) break;
      // At suffixLength 0 the sign is the parity of level_prefix and has no bit of its own.
      if (kFlips && (row_ & kRowMask) > kRowAny << kRowShift && (flips & 1) != 0) level = -level;
      const std::uint32_t entry =
          object_at<const std::uint16_t>(row_ + static_cast<SharedAddress>(2 * level) + 2 * kTabledLevel);
      sink.queue.push_wrapped(entry >> 9, entry);
      row_ = codes_ | (entry & kRowMask);
      leave(k);
    } while ((rest_ != 0) & (sink.queue.count <= 36));
    if (rest_ != 0) put_rest(sink, levels);
  }

 private:
  template <class Sink>
  __device__ __forceinline__ void put_rest(Sink& sink, const StagedLevels& levels) {
    const auto row = static_cast<std::uint32_t>(row_ & kRowMask) >> kRowShift;
    bool first = cannot_be_one(row);
    int suffix_length = suffix_length_of(row);
#pragma unroll 1
    do {
      sink.make_room();
      const int k = core::highest_bit(rest_), level = levels[k];
      int code = core::level_code(level, first);
      if (kFlips && (suffix_length > 0 || code >= 14)) code ^= static_cast<int>(flips & 1);
      core::put_level(sink.queue, code, suffix_length);
      suffix_length = core::next_suffix_length(suffix_length, abs(level));
      first = false;
      leave(k);
    } while (rest_ != 0);
  }

  __device__ __forceinline__ void leave(int k) {
    rest_ ^= 1u << k;
    if constexpr (kFlips) flips >>= 1;
  }

  const SharedAddress codes_;
  std::uint32_t rest_;
  SharedAddress row_;
};

}  // namespace cu264::entropy
