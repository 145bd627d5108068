#include "io/converter.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

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

bool is_full_range_format(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ411P:
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ444P:
      return true;
    default:
      return false;
  }
}

// RGB becomes limited range; everything else keeps its range. Untagged gray is full range, as in libswscale.
bool converted_range_is_full(const AVFrame& frame, const AVPixFmtDescriptor& format) {
  const auto pixel_format = static_cast<AVPixelFormat>(frame.format);
  if (is_rgb(format)) return false;
  if (is_full_range_format(pixel_format) || frame.color_range == AVCOL_RANGE_JPEG) return true;
  return is_gray(format) && frame.color_range == AVCOL_RANGE_UNSPECIFIED;
}

// The matrix that RGB is converted with is BT.709's for high definition and BT.601's for standard definition.
int default_matrix(int height) {
  return height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
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

AvFrame Converter::convert(AvFrame frame) {
  const auto from = static_cast<AVPixelFormat>(frame->format);
  if (is_taken(from)) return frame;
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(from);
  if (!format || (format->flags & AV_PIX_FMT_FLAG_HWACCEL) || !sws_isSupportedInput(from)) {
    throw Error(ErrorCode::bad_input,
                file_ + ": pixel format " + (format ? format->name : "unknown") + " is not supported");
  }
  const PictureShape source = shape_of(*frame);
  PictureShape taken = source;
  taken.format = is_gray(*format) ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_YUV420P;
  taken.full_range = converted_range_is_full(*frame, *format);
  return scaler_.scale(*frame, source, taken);
}

}  // namespace cu264::io
