// Brings any decoded picture to a format that the encoder takes: unchanged where possible, otherwise by
// libswscale.
#pragma once

#include <optional>
#include <string>

#include "io/av.h"
#include "io/scaler.h"
#include "io/video_info.h"

namespace cu264::io {

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file), scaler_(file) {}

  // Returns the picture itself if the encoder takes its format, otherwise a new one: gray8 from gray, yuv420p
  // from everything else, with the range and matrix that describe() tells.
  AvFrame convert(AvFrame frame);

  // From now on every picture is converted to the range and matrix that this one has when it is converted, as
  // the encoder was told, and to yuv420p or, if this one has it, nv12. What a picture does not say about
  // itself is taken from this one.
  void keep_to(const AVFrame& first);
  // Says in a few words what the first change among the pictures was that conversion removed; empty if there
  // was none.
  const std::string& change() const { return change_; }

  // Fills the colour fields of `info` with those of the converted picture.
  static void describe(const AVFrame& frame, VideoInfo& info);

  // What the picture says about itself, or what is assumed where it says nothing.
  static PictureShape shape_of(const AVFrame& frame);

  // Says in a few words what a picture of this format loses by conversion, apart from its alpha; empty if
  // nothing.
  static std::string loss(AVPixelFormat format);

 private:
  AvFrame convert_to_kept(AvFrame frame);

  std::string file_;
  std::optional<PictureShape> kept_;  // without a size
  PictureShape first_;
  std::string change_;
  Scaler scaler_;
};

}  // namespace cu264::io
