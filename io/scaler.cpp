#include "io/scaler.h"

#include <new>

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

namespace cu264::io {
std::string text_of(const PictureShape& shape) {
  const char* const format = av_get_pix_fmt_name(shape.format);
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + " " +
         (format ? format : "of unknown samples");
}

AvFrame Scaler::scale(const AVFrame& frame, const PictureShape& from, const PictureShape& to) {
  if (frame.width != from.width || frame.height != from.height || frame.format != from.format) {
    throw Error(ErrorCode::bad_input, file_ + ": a picture is not " + text_of(from) + ", as was expected");
  }
  prepare(from, to);
  AvFrame scaled = make_frame();
  scaled->format = to.format, scaled->width = to.width, scaled->height = to.height;
  int result = av_frame_get_buffer(scaled.get(), 0);
  if (result >= 0) result = av_frame_copy_props(scaled.get(), &frame);
  if (result >= 0) {
    result = sws_scale(context_.get(), frame.data, frame.linesize, 0, frame.height, scaled->data,
                       scaled->linesize);
  }
  if (result < 0) throw av_error(ErrorCode::bad_input, file_, "conversion failed", result);
  scaled->color_range = to.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  scaled->colorspace = static_cast<AVColorSpace>(to.matrix);
  return scaled;
}

void Scaler::prepare(const PictureShape& from, const PictureShape& to) {
  if (context_ && from == from_ && to == to_) return;
  // These flags select bit-exact code paths, so that the same input gives the same stream on every processor.
  constexpr int kFlags =
      SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;
  context_.reset(sws_alloc_context());
  if (!context_) throw std::bad_alloc();
  const auto set = [&](const char* name, int value) { av_opt_set_int(context_.get(), name, value, 0); };
  set("srcw", from.width), set("srch", from.height), set("src_format", from.format);
  set("dstw", to.width), set("dsth", to.height), set("dst_format", to.format);
  set("sws_flags", kFlags);
  // A context that is made for one range copies planes of one format, whatever it is told later.
  set("src_range", from.full_range), set("dst_range", to.full_range);
  if (sws_init_context(context_.get(), nullptr, nullptr) < 0) {
    context_.reset();
    throw Error(ErrorCode::bad_input, file_ + ": cannot convert " + text_of(from) + " to " + text_of(to));
  }
  sws_setColorspaceDetails(context_.get(), sws_getCoefficients(from.matrix), from.full_range,
                           sws_getCoefficients(to.matrix), to.full_range, 0, 1 << 16, 1 << 16);
  from_ = from, to_ = to;
}

}  // namespace cu264::io
