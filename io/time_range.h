// The times and durations that are worked with. A file may hold any number, and a clock that is centuries
// away is none: such a time counts as missing, so sums of times cannot overflow.
#pragma once

#include <cstdint>

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/mathematics.h>
#include <libavutil/rational.h>
}

namespace cu264::io {

inline constexpr std::int64_t kLatestTime = std::int64_t{1} << 54;       // in AV_TIME_BASE units: 570 years
inline constexpr std::int64_t kMostTicks = std::int64_t{1} << 61;        // of any time base
inline constexpr std::int64_t kLongestDuration = std::int64_t{1} << 56;  // ticks; muxers take multiples of it

inline bool is_between(std::int64_t value, std::int64_t limit) {
  return -limit <= value && value <= limit;
}

inline bool is_possible_time(std::int64_t time, AVRational time_base) {
  return is_between(time, kMostTicks) &&
         is_between(av_rescale_q(time, time_base, AV_TIME_BASE_Q), kLatestTime);  // INT64_MIN if too large
}

// Returns AV_NOPTS_VALUE for a time that cannot be.
inline std::int64_t possible_time(std::int64_t time, AVRational time_base) {
  return is_possible_time(time, time_base) ? time : AV_NOPTS_VALUE;
}

// Returns AV_NOPTS_VALUE if one of both is that, or their sum cannot be.
inline std::int64_t later_by(std::int64_t time, std::int64_t by, AVRational time_base) {
  if (time == AV_NOPTS_VALUE || !is_between(by, kMostTicks) || !is_between(time, kMostTicks))
    return AV_NOPTS_VALUE;
  return possible_time(time + by, time_base);
}

// Returns 0, which says that it is not known, for a duration that cannot be.
inline std::int64_t possible_duration(std::int64_t duration, AVRational time_base) {
  return duration > 0 && duration <= kLongestDuration && is_possible_time(duration, time_base) ? duration : 0;
}

}  // namespace cu264::io
