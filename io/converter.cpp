#include "io/converter.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace cu264::io {
namespace {

bool is_rgb(const AVPixFmtDescriptor& format) {
  return format.flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL);
}

bool is_gray(const AVPixFmtDescriptor& format) {
  return format.nb_components <= 2 && !is_rgb(format);
}

bool is_taken(AVPixelFormat format) {
  return format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P || format == AV_PIX_FMT_NV12 ||
         format == AV_PIX_FMT_GRAY8;
}

// Some formats say that their range is full. They have twins that leave it to the tag.
AVPixelFormat without_range(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    default:
      return format;
  }
}

bool is_full_range_format(AVPixelFormat format) {
  return without_range(format) != format;
}

// RGB becomes limited range; everything else keeps its range. A decoder may keep the format where the tag
// changes in the middle of a stream. Untagged gray is full range, as in libswscale.
bool converted_range_is_full(const AVFrame& frame, const AVPixFmtDescriptor& format) {
  const auto pixel_format = static_cast<AVPixelFormat>(frame.format);
  if (is_rgb(format)) return false;
  if (frame.color_range != AVCOL_RANGE_UNSPECIFIED) return frame.color_range == AVCOL_RANGE_JPEG;
  if (is_full_range_format(pixel_format)) return true;
  return is_gray(format);
}

// The matrix that RGB is converted with is BT.709's for high definition and BT.601's for standard definition.
int default_matrix(int height) {
  return height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

// Several code points stand for the same numbers.
bool same_matrix(int a, int b) {
  constexpr int kNumbers = 4;
  const int *one = sws_getCoefficients(a), *other = sws_getCoefficients(b);
  return a == b || std::equal(one, one + kNumbers, other);
}

std::string range_text(const PictureShape& shape) {
  const char* const name = av_get_pix_fmt_name(shape.format);
  return std::string(name ? name : "unknown samples") +
         (shape.full_range ? " of full range" : " of limited range");
}

// The same picture in 4:2:0: a stream that begins gray may become coloured.
AvFrame with_neutral_chroma(const AVFrame& gray) {
  constexpr int kNeutral = 128;
  AvFrame frame = make_frame();
  frame->format = AV_PIX_FMT_YUV420P, frame->width = gray.width, frame->height = gray.height;
  if (av_frame_get_buffer(frame.get(), 0) < 0 || av_frame_copy_props(frame.get(), &gray) < 0)
    throw std::bad_alloc();
  av_image_copy_plane(frame->data[0], frame->linesize[0], gray.data[0], gray.linesize[0], gray.width,
                      gray.height);
  for (const int plane : {1, 2}) {
    const auto bytes = static_cast<std::size_t>(frame->linesize[plane]) * ((gray.height + 1) / 2);
    std::memset(frame->data[plane], kNeutral, bytes);
  }
  return frame;
}

}  // namespace

void Converter::describe(const AVFrame& frame, VideoInfo& info) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  info.primaries = frame.color_primaries;
  info.transfer = frame.color_trc;
  info.matrix = is_rgb(format) ? default_matrix(frame.height) : frame.colorspace;
  if (info.matrix == AVCOL_SPC_RGB) info.matrix = AVCOL_SPC_UNSPECIFIED;  // the tag contradicts the format
  info.full_range = converted_range_is_full(frame, format);
  // Chroma that is computed anew lies where libswscale puts it, which it does not say.
  const bool kept = format.log2_chroma_w == 1 && format.log2_chroma_h == 1;
  info.chroma_location = kept ? frame.chroma_location : AVCHROMA_LOC_UNSPECIFIED;
}

std::string Converter::loss(AVPixelFormat pixel_format) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(pixel_format);
  if (!format || is_taken(pixel_format)) return {};
  std::string text = std::string("converted from ") + format->name + " to ";
  text += is_gray(*format) ? "gray" : "yuv420p";
  if (format->comp[0].depth > 8) text += ", " + std::to_string(format->comp[0].depth) + " bits to 8";
  return text;
}

PictureShape Converter::shape_of(const AVFrame& frame) {
  const auto pixel_format = static_cast<AVPixelFormat>(frame.format);
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(pixel_format);
  PictureShape shape{frame.width, frame.height, pixel_format};
  shape.full_range = is_rgb(format) || converted_range_is_full(frame, format);
  shape.matrix = is_rgb(format) ? default_matrix(frame.height) : frame.colorspace;
  shape.chroma_location = frame.chroma_location;
  return shape;
}

void Converter::keep_to(const AVFrame& first) {
  VideoInfo told;
  describe(first, told);
  first_ = shape_of(first);
  first_.format = without_range(first_.format);
  kept_ = PictureShape{0, 0, first.format == AV_PIX_FMT_NV12 ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P};
  kept_->full_range = told.full_range;
  kept_->matrix = told.matrix;
}

AvFrame Converter::convert_to_kept(AvFrame frame) {
  const auto format = static_cast<AVPixelFormat>(frame->format);
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(format);
  PictureShape source = shape_of(*frame), wanted = *kept_;
  wanted.width = source.width, wanted.height = source.height;
  frame->format = source.format = without_range(format);  // libswscale would take the format's range
  if (is_rgb(descriptor)) {
    if (wanted.matrix == AVCOL_SPC_UNSPECIFIED) wanted.matrix = default_matrix(frame->height);
    source.matrix = wanted.matrix;  // RGB has none: the conversion makes it
  } else {
    const bool silent = frame->color_range == AVCOL_RANGE_UNSPECIFIED && !is_full_range_format(format);
    // Gray without tags sets no example for colours.
    const bool like_gray = is_gray(descriptor) || is_gray(*av_pix_fmt_desc_get(first_.format));
    if (silent && !like_gray) source.full_range = wanted.full_range;
    const bool unknown = source.matrix == AVCOL_SPC_UNSPECIFIED || wanted.matrix == AVCOL_SPC_UNSPECIFIED;
    if (unknown || is_gray(descriptor) || same_matrix(source.matrix, wanted.matrix))
      source.matrix = wanted.matrix;
  }
  const bool like_first = source.format == first_.format && source.full_range == first_.full_range &&
                          (is_rgb(descriptor) || source.matrix == wanted.matrix);
  if (!like_first && change_.empty()) change_ = range_text(first_) + " to " + range_text(source);
  if (is_gray(descriptor)) {
    PictureShape gray = source;
    gray.format = AV_PIX_FMT_GRAY8;
    if (format != AV_PIX_FMT_GRAY8) frame = scaler_.scale(*frame, source, gray);
    frame = with_neutral_chroma(*frame);
    source.format = AV_PIX_FMT_YUV420P;
  }
  const bool same_range = source.full_range == wanted.full_range && source.matrix == wanted.matrix;
  if (source.format == wanted.format && same_range) return frame;
  return scaler_.scale(*frame, source, wanted);
}

AvFrame Converter::convert(AvFrame frame) {
  const auto from = static_cast<AVPixelFormat>(frame->format);
  if (is_taken(from) && !kept_) return frame;
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(from);
  if (!format || (format->flags & AV_PIX_FMT_FLAG_HWACCEL) || !sws_isSupportedInput(from)) {
    throw Error(ErrorCode::bad_input,
                file_ + ": pixel format " + (format ? format->name : "unknown") + " is not supported");
  }
  if (kept_) return convert_to_kept(std::move(frame));
  const PictureShape source = shape_of(*frame);
  PictureShape taken = source;
  taken.format = is_gray(*format) ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_YUV420P;
  taken.full_range = converted_range_is_full(*frame, *format);
  return scaler_.scale(*frame, source, taken);
}

}  // namespace cu264::io
