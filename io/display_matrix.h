// The matrix, of the container or of the picture, that asks players to turn pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "io/av.h"
#include "io/av_versions.h"

namespace cu264::io {

// Return nothing if there is no matrix, or one that changes nothing.
std::optional<DisplayMatrix> display_matrix_of(std::span<const std::uint8_t> bytes);
std::optional<DisplayMatrix> display_matrix_of(const AVStream& stream);
// JPEG files of cameras have it with the picture.
std::optional<DisplayMatrix> display_matrix_of(const AVStream& stream, const AVFrame& frame);

}  // namespace cu264::io
