#include "tests/parity/placed_frames.h"

#include <cuda_runtime_api.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "common/cuda/error_check.h"
#include "encoder/frame_layout.h"

namespace cu264::parity {
namespace {

constexpr std::uint8_t kPadding = 0xa5;

// A sample as a float. Some are beyond the range of samples, and some lie exactly between two values.
float float_sample(int sample, int x, int y) {
  switch ((x * 7 + y * 13) % 31) {
    case 0:
      return -0.25f;
    case 1:
      return 1.5f;
    case 2:
      return std::numeric_limits<float>::quiet_NaN();
    case 3:
      return (static_cast<float>(sample) + 0.5f) / 255.0f;
    case 4:
      return std::numeric_limits<float>::denorm_min();
    default:
      return static_cast<float>(sample) / 255.0f + 0.0001f * static_cast<float>(x % 19);
  }
}

// Writes a number in the type that the format has.
void put_number(PixelFormat format, float value, std::uint8_t* to) {
  if (encoder::number_bytes(format) == 4) {
    std::memcpy(to, &value, 4);
  } else if (format == PixelFormat::rgb_half || format == PixelFormat::rgb_half_planar) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(to, &half, 2);
  } else {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    const auto upper = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(to, &upper, 2);
  }
}

// Writes the element at position (x, y) of a plane to `to`.
void put_position(const test::Picture& picture, PixelFormat format, int plane, int x, int y,
                  std::uint8_t* to) {
  const auto sample = [&](int p) {
    const int shift = p == 0 || !encoder::is_rgb(format) ? 0 : 1;
    return picture.plane(p)[(y >> shift) * picture.plane_width(p) + (x >> shift)];
  };
  switch (format) {
    case PixelFormat::nv12:
      to[0] = sample(plane);
      if (plane == 1) to[1] = sample(2);
      break;
    case PixelFormat::rgb24:
    case PixelFormat::rgba32:
      for (int c = 0; c < 3; ++c) to[c] = sample(c);
      if (format == PixelFormat::rgba32) to[3] = static_cast<std::uint8_t>(x + y);
      break;
    case PixelFormat::bgr24:
    case PixelFormat::bgra32:
      for (int c = 0; c < 3; ++c) to[c] = sample(2 - c);
      if (format == PixelFormat::bgra32) to[3] = static_cast<std::uint8_t>(x + y);
      break;
    case PixelFormat::rgb_float_planar:
    case PixelFormat::rgb_half_planar:
    case PixelFormat::rgb_bfloat16_planar:
      put_number(format, float_sample(sample(plane), x, y), to);
      break;
    case PixelFormat::rgb_float:
    case PixelFormat::rgb_half:
    case PixelFormat::rgb_bfloat16:
      for (int c = 0; c < 3; ++c)
        put_number(format, float_sample(sample(c), x, y), to + c * encoder::number_bytes(format));
      break;
    default:
      to[0] = sample(plane);
  }
}

std::shared_ptr<std::uint8_t> allocate(std::size_t bytes, MemoryKind memory) {
  void* address = nullptr;
  switch (memory) {
    case MemoryKind::device:
      check_cuda(cudaMalloc(&address, bytes), "cudaMalloc");
      return {static_cast<std::uint8_t*>(address), [](std::uint8_t* d_memory) { cudaFree(d_memory); }};
    case MemoryKind::pinned:
      check_cuda(cudaHostAlloc(&address, bytes, cudaHostAllocDefault), "cudaHostAlloc");
      return {static_cast<std::uint8_t*>(address), [](std::uint8_t* pinned) { cudaFreeHost(pinned); }};
    default:
      return std::shared_ptr<std::uint8_t>(new std::uint8_t[bytes], std::default_delete<std::uint8_t[]>());
  }
}

}  // namespace

FramePlanes::FramePlanes(const test::Picture& picture, PixelFormat pixel_format, int padding, bool bottom_up)
    : format(pixel_format), width(picture.width), height(picture.height) {
  for (int p = 0; p < encoder::plane_count(format); ++p) {
    const int columns = encoder::plane_side(format, p, width), rows = encoder::plane_side(format, p, height);
    const std::ptrdiff_t bytes = encoder::row_bytes(format, p, width) + padding;
    plane[p].assign(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(rows), kPadding);
    for (int y = 0; y < rows; ++y) {
      std::uint8_t* const row = plane[p].data() + bytes * (bottom_up ? rows - 1 - y : y);
      for (int x = 0; x < columns; ++x) {
        put_position(picture, format, p, x, y, row + x * encoder::position_bytes(format, p));
      }
    }
    pitch[p] = bottom_up ? -bytes : bytes;
  }
}

PlacedFrame::PlacedFrame(const FramePlanes& planes, MemoryKind memory) {
  frame_.format = planes.format;
  frame_.memory = memory;
  frame_.width = planes.width, frame_.height = planes.height;
  for (int p = 0; p < encoder::plane_count(planes.format); ++p) {
    const std::size_t bytes = planes.plane[p].size();
    memory_[p] = allocate(bytes, memory);
    if (memory == MemoryKind::device) {
      check_cuda(cudaMemcpy(memory_[p].get(), planes.plane[p].data(), bytes, cudaMemcpyHostToDevice),
                 "upload");
    } else {
      std::memcpy(memory_[p].get(), planes.plane[p].data(), bytes);
    }
    const std::ptrdiff_t pitch = planes.pitch[p];
    frame_.plane[p] = memory_[p].get() + (pitch < 0 ? static_cast<std::ptrdiff_t>(bytes) + pitch : 0);
    frame_.pitch[p] = pitch;
  }
}

Frame PlacedFrame::view(std::int64_t pts) const {
  Frame frame = frame_;
  frame.pts = pts;
  return frame;
}

}  // namespace cu264::parity
