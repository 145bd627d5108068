// The times of the pictures: those of the input, or made from the frame rate where it has none.
#pragma once

#include <cstdint>

#include "io/av.h"

namespace cu264::io {

class Timestamps {
 public:
  // `ignore_given` says that the container has no real timestamps (an elementary stream), only the demuxer's
  // guesses.
  Timestamps(AVRational time_base, AVRational frame_rate, bool ignore_given)
      : time_base_(time_base), frame_rate_(frame_rate), ignore_given_(ignore_given) {}

  // Returns the time of the next picture, which is later than all before it. `given` may be AV_NOPTS_VALUE.
  // Without it, the next one comes `repeated_fields` half pictures later than the frame rate says.
  std::int64_t next(std::int64_t given, int repeated_fields = 0);

  std::int64_t frame_duration(int repeated_fields = 0) const;

  // The number of times that ran backwards or stood still, and were moved to one tick after the picture
  // before.
  std::int64_t moved() const { return moved_; }

  // Returns whether any two given times were not as far apart as the frame rate says, to within a rounded
  // tick, or fields were repeated.
  bool varies() const { return varies_; }

 private:
  std::int64_t half_pictures(std::int64_t number) const;

  AVRational time_base_;
  AVRational frame_rate_;
  bool ignore_given_;
  std::int64_t origin_ = 0;  // the last given time, or the first picture's
  // The number of half pictures since; counted so that rounding errors do not add up.
  std::int64_t since_origin_ = 0;
  std::int64_t last_ = AV_NOPTS_VALUE;
  std::int64_t moved_ = 0;
  bool varies_ = false;
};

}  // namespace cu264::io
