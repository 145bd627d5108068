#include "io/timestamps.h"

#include <algorithm>
#include <cstdlib>

#include "io/time_range.h"

namespace cu264::io {

std::int64_t Timestamps::next(std::int64_t given) {
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
    pts = later_by(origin_, av_rescale_q(since_origin_, av_inv_q(frame_rate_), time_base_), time_base_);
    if (pts == AV_NOPTS_VALUE) pts = origin_;
    if (last_ != AV_NOPTS_VALUE) pts = std::max(pts, last_ + 1);
  }
  ++since_origin_;
  return last_ = pts;
}

std::int64_t Timestamps::frame_duration() const {
  const std::int64_t one = av_rescale_q(1, av_inv_q(frame_rate_), time_base_);
  return std::max<std::int64_t>(1, possible_duration(one, time_base_));
}

}  // namespace cu264::io
