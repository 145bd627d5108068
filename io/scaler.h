// Scales pictures and changes their format, by libswscale.
#pragma once

#include <string>

#include "io/av.h"

namespace cu264::io {

// What libswscale must know about a picture before it reads or writes its samples.
struct PictureShape {
  int width = 0;
  int height = 0;
  AVPixelFormat format = AV_PIX_FMT_NONE;
  bool full_range = false;
  int matrix = AVCOL_SPC_UNSPECIFIED;
  int chroma_location = AVCHROMA_LOC_UNSPECIFIED;

  friend bool operator==(const PictureShape&, const PictureShape&) = default;
};

std::string text_of(const PictureShape& shape);  // "640x360 yuv420p"

class Scaler {
 public:
  // `file` is the input's name for messages.
  explicit Scaler(std::string file) : file_(std::move(file)) {}

  // Returns a new picture of shape `to` with the content of `frame`, which has the shape `from`, and with its
  // time and side data. Throws Error(bad_input) if libswscale cannot do that.
  AvFrame scale(const AVFrame& frame, const PictureShape& from, const PictureShape& to);

 private:
  void prepare(const PictureShape& from, const PictureShape& to);

  std::string file_;
  AvScaler context_;
  PictureShape from_, to_;  // what the context was made for: with any other picture it reads or writes beyond
};

}  // namespace cu264::io
