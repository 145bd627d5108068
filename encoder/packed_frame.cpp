#include "encoder/packed_frame.h"

#include <cstring>

#include "encoder/frame_layout.h"

namespace cu264::encoder {
namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

PackedLayout packed_layout(PixelFormat format, int width, int height) {
  constexpr std::size_t kRowAlignment = 16, kPlaneAlignment = 256;
  PackedLayout layout;
  for (int plane = 0; plane < plane_count(format); ++plane) {
    const std::size_t pitch =
        round_up(static_cast<std::size_t>(row_bytes(format, plane, width)), kRowAlignment);
    layout.offset[plane] = layout.bytes;
    layout.pitch[plane] = static_cast<std::ptrdiff_t>(pitch);
    layout.bytes += round_up(pitch * plane_side(format, plane, height), kPlaneAlignment);
  }
  return layout;
}

Frame pack_frame(const Frame& frame, std::uint8_t* to) {
  const PackedLayout layout = packed_layout(frame.format, frame.width, frame.height);
  Frame copy = frame;
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const auto bytes = static_cast<std::size_t>(row_bytes(frame.format, plane, frame.width));
    const int rows = plane_side(frame.format, plane, frame.height);
    std::uint8_t* const first = to + layout.offset[plane];
    for (int y = 0; y < rows; ++y) {
      std::memcpy(first + y * layout.pitch[plane], frame.plane[plane] + y * frame.pitch[plane], bytes);
    }
    copy.plane[plane] = first;
    copy.pitch[plane] = layout.pitch[plane];
  }
  return copy;
}

}  // namespace cu264::encoder
