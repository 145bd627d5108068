// A picture to encode: a view of memory that the caller owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cu264 {

// Samples have 8 bits unless stated otherwise. Chroma of the 4:2:0 formats has (width + 1) / 2 by (height +
// 1) / 2 samples. The RGB formats are converted as Config::colour says, and need Config::input_format.
enum class PixelFormat {
  i420,        // planes Y, U, V
  nv12,        // planes Y, UV interleaved
  gray8,       // plane Y; coded as 4:2:0 with chroma 128
  rgb24,       // one plane of R, G, B
  bgr24,       // one plane of B, G, R
  rgba32,      // one plane of R, G, B and a byte that is not read
  rgb_planar,  // planes R, G, B
  // Floating-point numbers in Frame::float_range. Values outside are clamped, and NaN is black. Planes and
  // pitches are aligned to the numbers' size.
  rgb_float_planar,  // planes R, G, B of IEEE 754 single
  rgb_float,         // one plane of R, G, B of IEEE 754 single
  rgb_half_planar,   // IEEE 754 half
  rgb_half,
  rgb_bfloat16_planar,  // the upper 16 bits of an IEEE 754 single
  rgb_bfloat16,
  // Samples of 8 bits again; the numbers of formats stay as they are.
  bgra32,  // one plane of B, G, R and a byte that is not read
};

// The values of black and white in the formats of floating-point numbers.
enum class FloatRange { zero_to_one, minus_one_to_one };

enum class MemoryKind {
  host,    // copied before Encoder::send returns
  pinned,  // page-locked host memory (cudaHostAlloc, cudaHostRegister): read after send has returned
  device,  // memory of the device that encodes (cuda backend only): read after send has returned
};

struct Frame {
  PixelFormat format = PixelFormat::i420;  // the same in all frames of an encoder
  MemoryKind memory = MemoryKind::host;
  int width = 0;   // luma samples; equal to Config::width
  int height = 0;  // luma samples; equal to Config::height
  // First sample of each plane, top row first, and the distance between rows in bytes (>= the row's bytes; a
  // negative pitch reads bottom-up). The caller keeps ownership. Host memory is not read after Encoder::send
  // returns; pinned and device memory must stay unchanged until the frame's packet has been received.
  const std::uint8_t* plane[3] = {};
  std::ptrdiff_t pitch[3] = {};
  // Has a meaning for device memory only: the cudaStream_t whose work so far writes the planes, of any
  // context of the device. The device waits for that work, the host does not. Null and cudaStreamLegacy are
  // the default stream of the context that is current when the frame is sent, cudaStreamPerThread that of the
  // thread. The stream may be destroyed once the frame was sent, a context of the caller's own once its
  // packet was received. Pinned memory, like host memory, has been written when the frame is sent.
  void* stream = nullptr;
  std::int64_t pts = 0;  // in Config::time_base units, handed back unchanged in the packet
  // How long the picture is shown, in the same units; 0: 1 / Config::frame_rate. Config::timed_bitrate counts
  // it.
  std::int64_t duration = 0;
  void* user_data = nullptr;  // handed back unchanged in the packet
  std::optional<int> qp;      // 0..51: of this picture, instead of Config::qp
  bool key = false;           // begins a GOP, wherever Config::gop would have it begin
  // Bytes that the caller adds to the picture's packet, such as sei_bytes(): limits, bitrates and the buffer
  // count them.
  std::int64_t added_bytes = 0;
  FloatRange float_range = FloatRange::zero_to_one;  // of the formats of floating-point numbers
};

}  // namespace cu264
