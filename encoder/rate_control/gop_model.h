// What rate control assumes where there are P pictures. All pictures of a stream are planned on one scale,
// the QP of P pictures: key pictures have a lower QP, because what follows is predicted from them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cu264/encoder.h"
#include "encoder/rate_control/bits_model.h"
#include "encoder/rate_control/fixed_log.h"
#include "encoder/rate_control/rate_account.h"
#include "encoder/rate_control/rate_settings.h"

namespace cu264::encoder {

enum class PictureKind {
  alone,  // planned with its own QP: every picture where there are no P pictures, and one with Frame::qp
  key,
  inter  // a P picture
};

inline PictureKind kind_of(const PictureControl& control) {
  if (control.settings.gop == 1) return PictureKind::alone;
  if (!control.key) return PictureKind::inter;
  return control.qp ? PictureKind::alone : PictureKind::key;
}

// Above this QP the difference shrinks, so that key pictures reach QP 51 as well.
inline constexpr int kLastFullOffset = 45 * kQpOne;

// The QP * 256 of a picture, for that of P pictures, and the reverse.
inline int own_qp_q8(PictureKind kind, int qp_q8) {
  if (kind != PictureKind::key) return qp_q8;
  const int above = std::max(qp_q8 - kLastFullOffset, 0);
  return std::max(std::min(qp_q8, kLastFullOffset) - kKeyPictureQpOffset * kQpOne + above * 3 / 2, 0);
}
inline int stream_qp_q8(PictureKind kind, int own_q8) {
  if (kind != PictureKind::key) return own_q8;
  const int full = kLastFullOffset - kKeyPictureQpOffset * kQpOne, above = std::max(own_q8 - full, 0);
  return std::min(own_q8, full) + kKeyPictureQpOffset * kQpOne + (2 * above + 2) / 3;
}

// The bits of a P picture of so many macroblocks, where a key picture of the same content takes `bits` at
// the same QP. The fewer bits a macroblock takes, the more often P_Skip is enough. A stream's own ratio is
// learnt as it is coded.
inline std::int64_t inter_bits(std::int64_t bits, std::int64_t macroblocks) {
  constexpr int kAtOneBit = -4 * kLogOne, kSlopeQ8 = 333;  // of log2 of the bits of a macroblock
  const int log = log2_q16(std::max(bits, macroblocks)) - log2_q16(std::max<std::int64_t>(macroblocks, 1));
  const std::int64_t own =
      std::int64_t{log} * kSlopeQ8 / 256 + kAtOneBit + log2_q16(std::max<std::int64_t>(macroblocks, 1));
  return std::min(bits, exp2_q16(static_cast<int>(std::clamp<std::int64_t>(own, 0, 61 * kLogOne))));
}

// Over how many pictures, from it on, the bits of a key picture count: its GOP, but at most a second.
inline int spread_of_key(const RateSettings& settings) {
  const std::int64_t second = units_of_second({settings.frame_rate.den, settings.frame_rate.num});
  const auto pictures = static_cast<int>(std::clamp<std::int64_t>(second, 2, kMaxLookahead));
  return settings.gop == 0 ? pictures : std::min(settings.gop, pictures);
}

}  // namespace cu264::encoder
