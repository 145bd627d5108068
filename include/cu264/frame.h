// A picture on its way into the encoder: a view, never an owner.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264 {

// 8 bits a sample. Chroma of the 4:2:0 formats has (width + 1) / 2 by (height + 1) / 2 samples.
enum class PixelFormat {
  i420,   // planes Y, U, V
  nv12,   // planes Y, UV interleaved
  gray8,  // plane Y; coded as 4:2:0 with chroma 128
};

enum class MemoryKind { host, device };

struct Frame {
  PixelFormat format = PixelFormat::i420;
  MemoryKind memory = MemoryKind::host;
  int width = 0;   // luma samples; equal to Config::width
  int height = 0;  // luma samples; equal to Config::height
  // First sample of each plane, top row first, and the distance between rows in bytes (>= the row's bytes; a
  // negative pitch reads bottom-up). Read before Encoder::send returns; the caller keeps ownership.
  const std::uint8_t* plane[3] = {};
  std::ptrdiff_t pitch[3] = {};
  std::int64_t pts = 0;  // in Config::time_base units, handed back unchanged in the packet
  void* user_data = nullptr;  // handed back unchanged in the packet
};

}  // namespace cu264
