// A caller's array as pictures: which of its dimensions is what, and where each picture's planes begin.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "caller_array.h"
#include "cu264/frame.h"

namespace cu264::python {

// What floating-point numbers of frames are from black to white.
enum class Range { unit, minus_one_to_one, bytes };

// How an array is read.
struct ArrayReading {
  std::optional<std::string> layout;  // the dimensions in order, of T, H, W, C; none: found from the shape
  // "rgb", "bgr", "gray", "nv12" or "i420"; none: rgb or gray, from the number of channels
  std::optional<std::string> colour;
  Range range = Range::unit;
  std::optional<std::string> known;  // picture_layout() of an array before it, which this one shares
  bool single = false;               // the array is one picture
};

class FrameArray {
 public:
  // Throws TypeError or ValueError if the array is none of pictures, or may be read in two ways.
  FrameArray(nb::handle object, const ArrayReading& reading);

  std::int64_t count() const { return count_; }
  int width() const { return first_.width; }
  int height() const { return first_.height; }
  const char* format() const;  // as Config's option input-format names it
  // The dimensions of a picture in order, without T; HW if there is one channel.
  const std::string& picture_layout() const { return picture_layout_; }
  bool on_device() const { return array_.on_device; }
  int device() const { return array_.device; }

  Frame frame(std::int64_t index) const;

  bool floating() const { return floating_; }  // what the caller has

  // The part of some samples of floating-point numbers that is clearly outside the range.
  double clipped() const;

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

  Dimensions dimensions(const std::string& layout, bool ycbcr) const;
  std::string default_layout(const ArrayReading& reading, bool ycbcr) const;
  std::string default_layout_of_three(const ArrayReading& reading) const;
  void gather(const Dimensions& d, bool bgr, bool to_bytes);
  void set_rgb(Dimensions d, bool bgr);
  void set_ycbcr(const Dimensions& d, bool nv12);
  void plane_rows(int plane, std::int64_t& bytes, std::int64_t& rows) const;
  int plane_count() const;

  CallerArray array_;
  Frame first_;
  std::string picture_layout_;
  bool floating_ = false;
  std::int64_t count_ = 0;
  std::int64_t frame_stride_ = 0;              // bytes, of plane 0 and of planes in the same array
  std::shared_ptr<std::uint8_t> device_copy_;  // what copy() made
  std::vector<std::uint8_t> gathered_;         // what gather() made
};

}  // namespace cu264::python
