// CAVLC, the variable-length code of H.264 (9.2), for blocks of 4x4 levels that come from anywhere: from
// another image or video format, or from a transform of the caller's own. It needs no encoder.
//
// Levels. A block is 16 levels of 16 bits in scan order, low frequencies first. Blocks of 15 levels (AC
// blocks, whose first coefficient is coded elsewhere) leave the last of the 16 at 0. Levels are from
// -kMaxLevel to kMaxLevel.
//
// Grids. The code of a block depends on nC, which is about the number of non-zero levels that its neighbours
// have. The blocks form grids, in raster order; all grids of a call have one shape. nC is either given, one
// number of 0 to 16 for each block, or computed as H.264 computes it within a grid: from the blocks to the
// left and above. Grids do not depend on each other and can be decoded in parallel: large grids make shorter
// streams, many grids faster decoders.
//
// The stream is one string of bits, most significant first, without headers and without gaps between grids.
// It has no marks by which an error could be noticed at once: a decoder reports codes that do not exist and
// grids that do not end where they should.
//
// Host and device give the same streams, and each decodes the other's. Errors are cu264::Error:
// invalid_argument for wrong arguments, bad_output for a stream that is too small, bad_input for streams that
// cannot be decoded, device_unavailable if a function needs a GPU and the build has no CUDA, device_failure
// if the runtime refuses a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cu264::cavlc {

inline constexpr int kBlockLevels = 16;
inline constexpr int kMaxLevel = 2063;     // the largest magnitude that level_prefix 15 can carry
inline constexpr int kMaxBlockBits = 464;  // no block takes more
inline constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 36;  // of a call

struct Grids {
  int width = 1, height = 1;  // of a grid, in blocks; their product is at most 2^30
  std::uint64_t count = 1;    // grids
  int levels = 16;            // of a block: 16 or 15

  // The arrays that go with grids have blocks() * kBlockLevels levels, blocks() values of nC, and count + 1
  // positions in the index.
  constexpr std::uint64_t blocks() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * count;
  }
};

// The number of bytes that so many bits take, and that are enough for any levels.
inline constexpr std::uint64_t stream_bytes(std::uint64_t bits) {
  return bits / 8 + (bits % 8 != 0);
}
inline constexpr std::uint64_t max_stream_bytes(const Grids& grids) {
  return stream_bytes(grids.blocks() * kMaxBlockBits);
}

// ---- In host memory. The work is done by the calling thread; calls from several threads do not disturb each
// other.

// Encodes and returns the number of bits. index[g] becomes the position of the first bit of grid g, and the
// last entry the number of bits. nC is empty if it is to be computed. The last byte of the stream is filled
// up with zeros, and nothing beyond it is written. Throws Error(invalid_argument) if a level or an nC is out
// of range, and names the block; Error(bad_output) if the stream does not fit. What the stream and the index
// then hold is not to be used.
std::uint64_t encode(const Grids& grids, std::span<const std::int16_t> levels,
                     std::span<const std::uint8_t> nC, std::span<std::uint8_t> stream,
                     std::span<std::uint64_t> index);

// Decodes with the index that encode() wrote. Whatever the bytes are, nothing outside the given ranges is
// touched. Throws Error(bad_input) if a grid is no valid code or does not end where the next one begins, and
// names it.
void decode(const Grids& grids, std::span<const std::uint8_t> stream, std::span<const std::uint64_t> index,
            std::span<const std::uint8_t> nC, std::span<std::int16_t> levels);

// ---- In device memory: asynchronous on `stream` (a cudaStream_t), without allocation or synchronisation.
//
// Called with d_scratch null, the functions only set scratch_size to the bytes that they need for these
// grids. Then they are called with memory of that size, 256-byte aligned, with any contents, which is theirs
// until the work is done. All pointers are to device memory and stay the caller's.

// The result of a call on device memory. failure is 0, or the value of the ErrorCode that the function for
// host memory would throw.
struct DeviceResult {
  std::uint64_t bits = 0;  // of the stream
  std::uint32_t failure = 0;
  std::uint32_t reserved = 0;
};

struct DeviceEncode {
  Grids grids;
  const std::int16_t* d_levels = nullptr;  // 16-byte aligned
  const std::uint8_t* d_nC = nullptr;      // null: computed
  std::uint8_t* d_stream = nullptr;        // 4-byte aligned; need not be zeroed
  std::uint64_t capacity = 0;              // bytes, a multiple of 4; nothing beyond it is written
  std::uint64_t* d_index = nullptr;
  DeviceResult* d_result = nullptr;
};
void device_encode(void* d_scratch, std::size_t& scratch_size, const DeviceEncode& call, void* stream);

// One thread decodes a grid. Levels of grids that cannot be decoded are zero from the first bad block on.
struct DeviceDecode {
  Grids grids;
  const std::uint8_t* d_stream = nullptr;  // 4-byte aligned
  std::uint64_t stream_size = 0;           // bytes that may be read
  const std::uint64_t* d_index = nullptr;
  const std::uint8_t* d_nC = nullptr;  // as the encoder was given
  std::int16_t* d_levels = nullptr;    // 16-byte aligned
  DeviceResult* d_result = nullptr;
};
void device_decode(void* d_scratch, std::size_t& scratch_size, const DeviceDecode& call, void* stream);

}  // namespace cu264::cavlc
