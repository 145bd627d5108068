// The times and durations that the code works with. A file may hold any number. A time that is centuries away
// counts as missing, so sums of times cannot overflow.
#pragma once

#include <cstdint>

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/mathematics.h>
#include <libavutil/rational.h>
}

namespace cu264::io {

inline constexpr std::int64_t kLatestTime = std::int64_t{1} << 54;   // in AV_TIME_BASE units: 570 years
inline constexpr std::int64_t kMaxTicks = std::int64_t{1} << 61;     // of any time base
inline constexpr std::int64_t kMaxDuration = std::int64_t{1} << 56;  // ticks; muxers take multiples of it

inline bool is_between(std::int64_t value, std::int64_t limit) {
  return -limit <= value && value <= limit;
}

inline bool is_possible_time(std::int64_t time, AVRational time_base) {
  return is_between(time, kMaxTicks) &&
         is_between(av_rescale_q(time, time_base, AV_TIME_BASE_Q), kLatestTime);  // INT64_MIN if too large
}

// Returns AV_NOPTS_VALUE for an impossible time.
inline std::int64_t possible_time(std::int64_t time, AVRational time_base) {
  return is_possible_time(time, time_base) ? time : AV_NOPTS_VALUE;
}

// Returns AV_NOPTS_VALUE if either is that, or if their sum is impossible.
inline std::int64_t later_by(std::int64_t time, std::int64_t by, AVRational time_base) {
  if (time == AV_NOPTS_VALUE || !is_between(by, kMaxTicks) || !is_between(time, kMaxTicks))
    return AV_NOPTS_VALUE;
  return possible_time(time + by, time_base);
}

// Returns 0, which stands for an unknown duration, for an impossible one.
inline std::int64_t possible_duration(std::int64_t duration, AVRational time_base) {
  return duration > 0 && duration <= kMaxDuration && is_possible_time(duration, time_base) ? duration : 0;
}

}  // namespace cu264::io
