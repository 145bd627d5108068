// A caller's array as pictures: which of its dimensions is what, and where each picture's planes begin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "caller_array.h"
#include "cu264/frame.h"

namespace cu264::python {

class FrameArray {
 public:
  // layout: the dimensions in order, of T, H, W, C; not given: found from the shape.
  // colour: "rgb", "bgr", "gray", "nv12" or "i420"; not given: rgb or gray, from the number of channels.
  FrameArray(nb::handle object, const std::optional<std::string>& layout,
             const std::optional<std::string>& colour, bool signed_floats);

  std::int64_t count() const { return count_; }
  int width() const { return first_.width; }
  int height() const { return first_.height; }
  const char* format() const;  // as Config's option input-format names it
  bool on_device() const { return array_.on_device; }
  int device() const { return array_.device; }

  Frame frame(std::int64_t index) const;

  // Frames on a device: copies them there, and returns when the caller may overwrite its own.
  void copy();

 private:
  struct Dimension {
    std::int64_t size = 1;
    std::int64_t stride = 0;  // bytes
  };
  struct Dimensions {
    Dimension t, h, w, c;
  };

  Dimensions dimensions(const std::optional<std::string>& layout, bool ycbcr) const;
  std::string default_layout(bool ycbcr) const;
  void set_rgb(Dimensions d, bool bgr);
  void set_ycbcr(const Dimensions& d, bool nv12);
  void plane_rows(int plane, std::int64_t& bytes, std::int64_t& rows) const;
  int plane_count() const;

  CallerArray array_;
  Frame first_;
  std::int64_t count_ = 0;
  std::int64_t frame_stride_ = 0;              // bytes, of plane 0 and of planes in the same array
  std::shared_ptr<std::uint8_t> device_copy_;  // what copy() made
};

}  // namespace cu264::python
