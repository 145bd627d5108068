// The settings that rate control keeps to, picture by picture.
#pragma once

#include <cstdint>
#include <optional>

#include "cu264/encoder.h"
#include "encoder/hrd.h"

namespace cu264::encoder {

struct RateSettings {
  Rational frame_rate{25, 1};
  int qp = 27;
  std::optional<int> crf_q8;  // crf * 256
  std::int64_t bitrate = 0;   // 0: no target
  // Seconds a unit of durations; not set: all pictures last as long as frame_rate says. Only for a bitrate
  // without a buffer.
  std::optional<Rational> time_base;
  std::optional<HrdParams> hrd;  // not set: no buffer
  std::int64_t limit_bytes = 0;  // of an access unit; 0: none
  bool exact = false;            // filler data make every access unit as large as the limit
  int lookahead = 0;             // pictures after the planned one that a target looks at
  bool drop = false;             // a picture that is too large at QP 51 is left out
  int gop = 1;                   // Config::gop; 1: every picture is a key picture
};

RateSettings rate_settings(const Config& config);

// Bytes of an access unit besides its slices, without the HRD's messages.
struct Overhead {
  std::int64_t parameter_sets = 0;
  std::int64_t messages = 0;
  std::int64_t added = 0;  // Frame::added_bytes, which are lost with their picture

  std::int64_t bytes() const { return parameter_sets + messages + added; }
  // Includes the bytes of pictures that were left out before it. The newest parameter sets count; only the
  // first picture of a clip has messages.
  Overhead with(const Overhead& pending) const {
    return {parameter_sets > 0 ? parameter_sets : pending.parameter_sets,
            messages > 0 ? messages : pending.messages, added};
  }
};

// What one picture is planned with.
struct PictureControl {
  RateSettings settings;
  std::optional<int> qp;      // Frame::qp
  Overhead overhead;          // if all pictures before it are in the stream
  std::int64_t duration = 0;  // Frame::duration
  bool key = true;            // it is a key picture
};

// About how many bytes the HRD's messages take. Their true size counts when a picture is settled.
inline constexpr std::int64_t kExpectedMessages = 26;

inline std::int64_t overhead_bits(const PictureControl& control) {
  return 8 * (control.overhead.bytes() + (control.settings.hrd ? kExpectedMessages : 0));
}

inline bool has_target(const RateSettings& settings) {
  return settings.bitrate > 0;
}

}  // namespace cu264::encoder
