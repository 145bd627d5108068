#include "io/timestamps.h"

#include <algorithm>
#include <cstdlib>

#include "io/time_range.h"

namespace cu264::io {

std::int64_t Timestamps::next(std::int64_t given, int repeated_fields) {
  std::int64_t pts = 0;
  given = possible_time(given, time_base_);
  if (given != AV_NOPTS_VALUE && !ignore_given_) {
    pts = given;
    if (last_ != AV_NOPTS_VALUE && pts <= last_) {
      pts = last_ + 1;
      ++moved_;
    }
    if (last_ != AV_NOPTS_VALUE && std::llabs(pts - last_ - frame_duration()) > 1) varies_ = true;
    origin_ = pts, since_origin_ = 0;
  } else {
    pts = later_by(origin_, half_pictures(since_origin_), time_base_);
    if (pts == AV_NOPTS_VALUE) pts = origin_;
    if (last_ != AV_NOPTS_VALUE) pts = std::max(pts, last_ + 1);
    varies_ = varies_ || repeated_fields != 0;
  }
  since_origin_ += 2 + repeated_fields;
  return last_ = pts;
}

std::int64_t Timestamps::frame_duration(int repeated_fields) const {
  return std::max<std::int64_t>(1, possible_duration(half_pictures(2 + repeated_fields), time_base_));
}

std::int64_t Timestamps::half_pictures(std::int64_t number) const {
  const AVRational half = av_mul_q(av_inv_q(frame_rate_), AVRational{1, 2});
  return av_rescale_q(number, half, time_base_);
}

}  // namespace cu264::io
