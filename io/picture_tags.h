// What a caller knows of the pictures better than the input says it.
#pragma once

#include <optional>

#include "io/av.h"

namespace cu264::io {

struct PictureTags {
  std::optional<AVRational> sample_aspect_ratio;  // 0: unspecified
  std::optional<bool> full_range;
  // Code points of ITU-T H.273, which libav's enumerations follow.
  std::optional<int> primaries, transfer, matrix;
  std::optional<int> chroma_location;  // chroma_sample_loc_type of H.264 figure E-1; libav counts from 1

  // Writes them into a decoded frame, so that whatever comes behind believes them.
  void apply(AVFrame& frame) const {
    if (sample_aspect_ratio) frame.sample_aspect_ratio = *sample_aspect_ratio;
    if (full_range) frame.color_range = *full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (primaries) frame.color_primaries = static_cast<AVColorPrimaries>(*primaries);
    if (transfer) frame.color_trc = static_cast<AVColorTransferCharacteristic>(*transfer);
    if (matrix) frame.colorspace = static_cast<AVColorSpace>(*matrix);
    if (chroma_location) frame.chroma_location = static_cast<AVChromaLocation>(*chroma_location + 1);
  }
};

}  // namespace cu264::io
