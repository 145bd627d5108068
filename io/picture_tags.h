// Properties of the pictures that a caller knows better than the input.
#pragma once

#include <cstring>
#include <optional>

#include "io/av.h"

namespace cu264::io {

// Demuxers copy code points out of files unchecked, even those that no enumerator stands for. Loading such a
// value as its enumeration is undefined in C++, so this replaces it by `unspecified` beforehand.
template <class Tag>
void keep_defined(Tag& tag, int end, Tag unspecified) {
  static_assert(sizeof(Tag) == sizeof(int));
  int value = 0;
  std::memcpy(&value, &tag, sizeof value);
  if (value < 0 || value >= end) tag = unspecified;
}

inline void keep_defined_tags(AVFrame& frame) {
  keep_defined(frame.color_range, AVCOL_RANGE_NB, AVCOL_RANGE_UNSPECIFIED);
  keep_defined(frame.color_primaries, AVCOL_PRI_NB, AVCOL_PRI_UNSPECIFIED);
  keep_defined(frame.color_trc, AVCOL_TRC_NB, AVCOL_TRC_UNSPECIFIED);
  keep_defined(frame.colorspace, AVCOL_SPC_NB, AVCOL_SPC_UNSPECIFIED);
  keep_defined(frame.chroma_location, AVCHROMA_LOC_NB, AVCHROMA_LOC_UNSPECIFIED);
}

struct PictureTags {
  std::optional<AVRational> sample_aspect_ratio;  // 0: unspecified
  std::optional<bool> full_range;
  // Code points of ITU-T H.273, which libav's enumerations follow.
  std::optional<int> primaries, transfer, matrix;
  std::optional<int> chroma_location;  // chroma_sample_loc_type of H.264 figure E-1; libav counts from 1

  // Writes them into a decoded frame, so that later steps use them.
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
