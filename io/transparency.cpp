#include "io/transparency.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace cu264::io {
namespace {

// The value of an opaque sample as av_read_image_line2 reads it.
std::uint32_t opaque(const AVPixFmtDescriptor& format, int depth) {
  if (format.flags & AV_PIX_FMT_FLAG_FLOAT) return std::bit_cast<std::uint32_t>(1.0f);
  return depth >= 32 ? 0xffffffffu : (1u << depth) - 1;
}

}  // namespace

bool has_alpha_channel(AVPixelFormat format) {
  const AVPixFmtDescriptor* const descriptor = av_pix_fmt_desc_get(format);
  return descriptor && (descriptor->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
}

bool is_transparent_somewhere(const AVFrame& frame) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const bool palette = (format.flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const int alpha = palette ? 3 : format.nb_components - 1;
  const std::uint32_t whole = opaque(format, palette ? 8 : format.comp[alpha].depth);
  std::vector<std::uint32_t> line(static_cast<std::size_t>(frame.width));
  const std::uint8_t* data[4] = {frame.data[0], frame.data[1], frame.data[2], frame.data[3]};
  for (int y = 0; y < frame.height; ++y) {
    av_read_image_line2(line.data(), data, frame.linesize, &format, 0, y, alpha, frame.width, palette ? 1 : 0,
                        sizeof line[0]);
    if (std::any_of(line.begin(), line.end(), [&](std::uint32_t a) { return a != whole; })) return true;
  }
  return false;
}

}  // namespace cu264::io
