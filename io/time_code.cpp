#include "io/time_code.h"

#include <cmath>
#include <cstdio>

extern "C" {
#include <libavutil/timecode.h>
}

namespace cu264::io {
namespace {

int pictures_a_second(AVRational rate) {
  return rate.num > 0 && rate.den > 0 ? static_cast<int>(std::lround(av_q2d(rate))) : 0;
}

// At such rates a time code that leaves out no numbers falls behind the clock.
bool is_slower_than_counted(AVRational rate) {
  return av_q2d(rate) < pictures_a_second(rate) - 1e-3;
}

}  // namespace

std::string moved_time_code(const std::string& text, AVRational from, double seconds, AVRational to) {
  const int from_fps = pictures_a_second(from), to_fps = pictures_a_second(to);
  AVTimecode code;
  if (from_fps <= 0 || to_fps <= 0 || av_timecode_init_from_string(&code, from, text.c_str(), nullptr) < 0)
    return {};
  char moved[AV_TIMECODE_STR_SIZE];
  av_timecode_make_string(&code, moved, static_cast<int>(std::lround(seconds * av_q2d(from))));
  int hours = 0, minutes = 0, second = 0, picture = 0;
  char mark = ':';
  if (std::sscanf(moved, "%d:%d:%d%c%d", &hours, &minutes, &second, &mark, &picture) != 5) return {};
  const bool drops = (code.flags & AV_TIMECODE_FLAG_DROPFRAME) != 0;
  if (from_fps != to_fps) picture = picture * to_fps / from_fps;
  // Numbers are left out only at 30 pictures a second and multiples, to keep up with the clock.
  const bool keeps_time = drops || !is_slower_than_counted(from);
  const bool still_drops = to_fps % 30 == 0 && is_slower_than_counted(to) && keeps_time;
  const int left_out = to_fps / 30 * 2;
  if (still_drops && minutes % 10 != 0 && second == 0 && picture < left_out) picture = left_out;
  char result[32];
  std::snprintf(result, sizeof result, "%02d:%02d:%02d%c%02d", hours, minutes, second,
                still_drops ? ';' : ':', picture);
  return result;
}

}  // namespace cu264::io
