#include "encoder/cpu/ingest.h"

#include <algorithm>
#include <cstring>

#include "encoder/frame_layout.h"

namespace cu264::encoder {
namespace {

// Replicates column width - 1 of a row to its end.
void pad_right(std::uint8_t* row, int width, int padded_width) {
  std::memset(row + width, row[width - 1], static_cast<std::size_t>(padded_width - width));
}

// Replicates row height - 1 of a plane to its bottom.
void pad_bottom(Plane& plane, int height) {
  const std::uint8_t* const last = plane.row(height - 1);
  for (int y = height; y < plane.height; ++y) {
    std::memcpy(plane.row(y), last, static_cast<std::size_t>(plane.width));
  }
}

void ingest_plane(const std::uint8_t* samples, std::ptrdiff_t pitch, int width, int height, Plane& plane) {
  for (int y = 0; y < height; ++y) {
    std::memcpy(plane.row(y), samples + y * pitch, static_cast<std::size_t>(width));
    pad_right(plane.row(y), width, plane.width);
  }
  pad_bottom(plane, height);
}

void ingest_interleaved(const std::uint8_t* samples, std::ptrdiff_t pitch, int width, int height, Plane& cb,
                        Plane& cr) {
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* const in = samples + y * pitch;
    std::uint8_t* const u = cb.row(y);
    std::uint8_t* const v = cr.row(y);
    for (int x = 0; x < width; ++x) u[x] = in[2 * x], v[x] = in[2 * x + 1];
    pad_right(u, width, cb.width);
    pad_right(v, width, cr.width);
  }
  pad_bottom(cb, height);
  pad_bottom(cr, height);
}

void ingest_rgb(const Frame& frame, const core::ColourMatrix& matrix, Plane* source) {
  const core::RgbPicture rgb{frame.format,
                             frame.width,
                             frame.height,
                             {frame.plane[0], frame.plane[1], frame.plane[2]},
                             {frame.pitch[0], frame.pitch[1], frame.pitch[2]},
                             frame.float_range};
  const int chroma_width = (frame.width + 1) / 2, chroma_height = (frame.height + 1) / 2;
  // Planes of whole macroblocks have room for the second luma column and row of an odd side.
  for (int y = 0; y < chroma_height; ++y) {
    for (int x = 0; x < chroma_width; ++x) {
      const core::Ycc420 ycc = core::convert_rgb(matrix, rgb, x, y);
      for (int i = 0; i < 4; ++i) source[0].row(2 * y + (i >> 1))[2 * x + (i & 1)] = ycc.y[i];
      source[1].row(y)[x] = ycc.cb;
      source[2].row(y)[x] = ycc.cr;
    }
  }
  for (int c = 0; c < 3; ++c) {
    const int width = c == 0 ? frame.width : chroma_width, height = c == 0 ? frame.height : chroma_height;
    for (int y = 0; y < height; ++y) pad_right(source[c].row(y), width, source[c].width);
    pad_bottom(source[c], height);
  }
}

}  // namespace

void ingest(const Frame& frame, CpuPicture& picture, const core::ColourMatrix& matrix) {
  if (is_rgb(frame.format)) return ingest_rgb(frame, matrix, picture.source);
  Plane* const source = picture.source;
  const int chroma_width = (frame.width + 1) / 2;
  const int chroma_height = (frame.height + 1) / 2;
  ingest_plane(frame.plane[0], frame.pitch[0], frame.width, frame.height, source[0]);
  switch (frame.format) {
    case PixelFormat::i420:
      for (int c = 1; c < 3; ++c) {
        ingest_plane(frame.plane[c], frame.pitch[c], chroma_width, chroma_height, source[c]);
      }
      break;
    case PixelFormat::nv12:
      ingest_interleaved(frame.plane[1], frame.pitch[1], chroma_width, chroma_height, source[1], source[2]);
      break;
    default:  // gray8
      for (int c = 1; c < 3; ++c)
        std::fill(source[c].samples.begin(), source[c].samples.end(), std::uint8_t{128});
      break;
  }
}

}  // namespace cu264::encoder
