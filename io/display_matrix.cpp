#include "io/display_matrix.h"

#include <cstring>

namespace cu264::io {

std::optional<DisplayMatrix> display_matrix_of(std::span<const std::uint8_t> bytes) {
  static constexpr DisplayMatrix kIdentity{1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30};
  DisplayMatrix matrix;
  if (bytes.size() != sizeof matrix) return std::nullopt;
  std::memcpy(matrix.data(), bytes.data(), sizeof matrix);
  return matrix == kIdentity ? std::nullopt : std::optional(matrix);
}

std::optional<DisplayMatrix> display_matrix_of(const AVStream& stream) {
  return display_matrix_of(side_data_of(stream, AV_PKT_DATA_DISPLAYMATRIX));
}

std::optional<DisplayMatrix> display_matrix_of(const AVStream& stream, const AVFrame& frame) {
  const auto matrix = display_matrix_of(stream);
  const AVFrameSideData* const own = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
  return matrix || !own ? matrix : display_matrix_of(std::span<const std::uint8_t>(own->data, own->size));
}

}  // namespace cu264::io
