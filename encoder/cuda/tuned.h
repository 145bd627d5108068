// The numbers that were chosen by measurement, and the machine that was measured. Bytes do not depend on
// them, so other kinds of device may have other numbers. Where no machine is named, none was recorded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264::encoder::cuda::tuned {

// The search in rows. H200, 1080p.
//
// Warps run in step where the code of a macroblock does not fit the instruction caches: `fast` without
// Intra_8x8 alone does. The registers are limited so that this many blocks of this many warps fit on a
// multiprocessor.
constexpr bool rows_in_step(bool rd, bool intra8x8) {
  return rd || intra8x8;
}
constexpr int warps_of_row_block(bool rd, bool intra8x8) {
  return rd && intra8x8 ? 32 : rows_in_step(rd, intra8x8) ? 28 : 4;
}
constexpr int row_blocks_of_multiprocessor(bool rd, bool intra8x8) {
  return rows_in_step(rd, intra8x8) ? 1 : 6;
}

// The search by pairs of warps, which share a macroblock while the device has at most this many pictures.
// H200, 1080p.
inline constexpr int kMaxPicturesByPairs = 24;
constexpr int max_pictures_by_pairs(bool rd, bool intra8x8) {
  return rows_in_step(rd, intra8x8) ? 12 : kMaxPicturesByPairs;
}
inline constexpr int kPairsOfMultiprocessor = 8;

// How large a batch must be to keep a multiprocessor busy. H200, 1080p.
struct BusyMultiprocessor {
  int rows;         // macroblock rows of the batch
  int macroblocks;  // that can be searched at the same time, on average
  int round;        // rows that are begun together, or 1: the last round need not be full
};
constexpr BusyMultiprocessor busy_multiprocessor(bool rd, bool intra8x8) {
  const int round = rows_in_step(rd, intra8x8) ? warps_of_row_block(rd, intra8x8) : 1;
  return {rd ? 80 : 83, !intra8x8 ? 50 : rd ? 60 : 80, round};
}
inline constexpr int kMaxBatch = 288;
inline constexpr int kMaxBatchWithPictures = 16;  // where whole pictures come back from the device

// Batches side by side, by the macroblock rows of one. H200. Where two batches are better than one, two
// somewhat larger ones are, too.
inline constexpr int kMaxBatchesSideBySide = 4;
inline constexpr int kRowsOfLargeDevice = 11000, kRowsOfHalf = 7000, kRowsOfHalfInFast = 10000;
// With the 8x8 transform two batches, each of which fills the device, are faster than one.
inline constexpr int kRowsOfHalfInHigh = 15000;

// The measure of pictures: thread blocks of a launch. H200.
inline constexpr int kMeasureBlocks = 264;

// The window through which the host reads a stream: it holds the stream of a single picture of up to 4 bits
// for each luma sample. Of larger batches it holds a part: while the host reads one half, the other half is
// copied, which takes less time.
inline constexpr std::size_t kWindowBytesPerMacroblock = 128, kMaxWindowBytes = std::size_t{8} << 20;

// Copying packets: the second thread takes part from this size on; waking it for less is not worth it. It
// goes this many pictures ahead, and is woken again when half of them have been collected.
inline constexpr int kFewPictures = 4;
inline constexpr std::uint64_t kFewBytes = 1 << 20;
inline constexpr int kPicturesAhead = 8;

// The groups of macroblocks for which a warp makes the keystream at once. The more there are, the fewer lanes
// have no AES block to compute.
inline constexpr int kKeystreamGroups = 2;

}  // namespace cu264::encoder::cuda::tuned
