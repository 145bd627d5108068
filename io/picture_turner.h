// Turns and mirrors pictures as a display matrix asks.
#pragma once

#include <string>
#include <vector>

#include "io/av.h"
#include "io/av_versions.h"

namespace cu264::io {

class PictureTurner {
 public:
  // True for the eight ways in which a matrix may turn by right angles and mirror.
  static bool can_turn(const DisplayMatrix& matrix);

  // Does nothing until a matrix is given, for which can_turn() is true.
  PictureTurner() = default;
  explicit PictureTurner(const DisplayMatrix& matrix);

  bool swaps_sides() const { return transposes_; }

  // The names of filters that, one after the other and without arguments, do the same to pictures of any
  // format.
  std::vector<std::string> filters() const;

  // Takes yuv420p, yuvj420p, nv12 and gray8.
  AvFrame turn(AvFrame frame) const;

 private:
  bool turns_ = false;
  bool transposes_ = false;
  bool from_right_ = false;   // the source's columns are taken from the right
  bool from_bottom_ = false;  // the source's rows are taken from the bottom
};

}  // namespace cu264::io
