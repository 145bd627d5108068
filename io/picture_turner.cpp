#include "io/picture_turner.h"

#include <algorithm>
#include <cstdint>

namespace cu264::io {
namespace {

struct Plane {
  std::uint8_t* data;
  int pitch;  // in bytes
  int width;  // in samples
  int height;
};

Plane plane_of(const AVFrame& frame, int index) {
  const int width = index == 0 ? frame.width : (frame.width + 1) / 2;
  const int height = index == 0 ? frame.height : (frame.height + 1) / 2;
  return {frame.data[index], frame.linesize[index], width, height};
}

}  // namespace

// The matrix takes the point (p, q) to (a p + c q, b p + d q), with a, b, c, d its elements 0, 1, 3 and 4.
bool PictureTurner::can_turn(const DisplayMatrix& matrix) {
  const bool straight = matrix[1] == 0 && matrix[3] == 0 && matrix[0] != 0 && matrix[4] != 0;
  const bool transposed = matrix[0] == 0 && matrix[4] == 0 && matrix[1] != 0 && matrix[3] != 0;
  return straight || transposed;
}

PictureTurner::PictureTurner(const DisplayMatrix& matrix)
    : turns_(true),
      transposes_(matrix[0] == 0),
      from_right_(transposes_ ? matrix[1] < 0 : matrix[0] < 0),
      from_bottom_(transposes_ ? matrix[3] < 0 : matrix[4] < 0) {
  turns_ = transposes_ || from_right_ || from_bottom_;
}

std::vector<std::string> PictureTurner::filters() const {
  std::vector<std::string> filters;
  if (from_right_) filters.emplace_back("hflip");
  if (from_bottom_) filters.emplace_back("vflip");
  if (transposes_) filters.emplace_back("transpose");  // by default it exchanges rows and columns alone
  return filters;
}

AvFrame PictureTurner::turn(AvFrame frame) const {
  if (!turns_) return frame;
  AvFrame turned = make_frame();
  turned->format = frame->format;
  turned->width = transposes_ ? frame->height : frame->width;
  turned->height = transposes_ ? frame->width : frame->height;
  const int result = av_frame_get_buffer(turned.get(), 0);
  if (result < 0) throw av_error(ErrorCode::out_of_memory, "picture", "cannot be turned", result);
  const bool pairs = frame->format == AV_PIX_FMT_NV12;
  const int planes = frame->format == AV_PIX_FMT_GRAY8 ? 1 : pairs ? 2 : 3;
  for (int index = 0; index < planes; ++index) {
    const Plane from = plane_of(*frame, index), to = plane_of(*turned, index);
    const int sample = pairs && index == 1 ? 2 : 1;  // bytes
    for (int y = 0; y < to.height; ++y) {
      for (int x = 0; x < to.width; ++x) {
        const int column = transposes_ ? y : x, row = transposes_ ? x : y;
        const int p = from_right_ ? from.width - 1 - column : column;
        const int q = from_bottom_ ? from.height - 1 - row : row;
        std::copy_n(from.data + static_cast<std::ptrdiff_t>(q) * from.pitch + p * sample, sample,
                    to.data + static_cast<std::ptrdiff_t>(y) * to.pitch + x * sample);
      }
    }
  }
  return turned;
}

}  // namespace cu264::io
