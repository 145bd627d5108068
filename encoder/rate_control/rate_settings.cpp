#include "encoder/rate_control/rate_settings.h"

#include <algorithm>
#include <cmath>

#include "encoder/config.h"

namespace cu264::encoder {

RateSettings rate_settings(const Config& config) {
  RateSettings settings;
  settings.frame_rate = reduced(config.frame_rate);
  settings.qp = config.qp;
  if (config.crf) settings.crf_q8 = static_cast<int>(std::lround(*config.crf * 256));
  if (config.timed_bitrate) {
    const Rational usual = reduced({config.frame_rate.den, config.frame_rate.num});
    settings.time_base = config.time_base.num > 0 ? reduced(config.time_base) : usual;
  }
  settings.hrd = hrd_params(config);
  settings.bitrate = config.bitrate;
  // The stream says its rate in units of 64 bits a second; a target above it would empty the buffer.
  if (settings.hrd) settings.bitrate = std::min(settings.bitrate, settings.hrd->bit_rate);
  settings.lookahead = coded_lookahead(config);
  settings.exact = config.frame_bytes > 0;
  settings.limit_bytes = settings.exact ? config.frame_bytes : config.max_frame_bytes;
  settings.gop = config.gop;
  settings.drop = config.on_overflow == OnOverflow::drop;
  return settings;
}

}  // namespace cu264::encoder
