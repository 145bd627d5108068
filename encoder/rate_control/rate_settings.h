// What rate control has to keep to, picture by picture.
#pragma once

#include <cstdint>
#include <optional>

#include "cu264/encoder.h"
#include "encoder/rate_control/hrd.h"

namespace cu264::encoder {

struct RateSettings {
  Rational frame_rate{25, 1};
  int qp = 27;
  std::optional<int> crf_q8;     // crf * 256
  std::int64_t bitrate = 0;      // 0: no target
  std::optional<HrdParams> hrd;  // not set: no buffer
  std::int64_t limit_bytes = 0;  // of an access unit; 0: none
  bool exact = false;            // filler data make every access unit as large as the limit
  bool drop = false;             // a picture that is too large at QP 51 is left out
};

RateSettings rate_settings(const Config& config);

// What one picture is planned with.
struct PictureControl {
  RateSettings settings;
  std::optional<int> qp;            // Frame::qp
  std::int64_t overhead_bytes = 0;  // what precedes the slices in the access unit, without the HRD's messages
};

}  // namespace cu264::encoder
