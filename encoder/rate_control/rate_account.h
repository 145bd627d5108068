// The two accounts of rate control: the bits spent beside the target, and the buffer of the hypothetical
// reference decoder (H.264 C.1), out of which each picture is taken at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "encoder/rate_control/bits_curve.h"
#include "encoder/rate_control/rate_settings.h"

namespace cu264::encoder {

// A picture's share of a rate. `rest` keeps what rounding down loses for the next picture.
inline std::int64_t share_of(std::int64_t rate, Rational frame_rate, std::int64_t& rest) {
  __extension__ using Wide = __int128;
  const Wide total = static_cast<Wide>(rate) * frame_rate.den + rest;
  rest = static_cast<std::int64_t>(total % frame_rate.num);
  return static_cast<std::int64_t>(total / frame_rate.num);
}

// This is what the settings mean for each picture.
struct RateShares {
  // `number` is the picture's, from 0.
  explicit RateShares(const RateSettings& settings, std::uint64_t number = 0) {
    std::int64_t rest = 0;
    target = share_of(settings.bitrate, settings.frame_rate, rest);
    second = static_cast<int>(std::max<std::int64_t>(
        (settings.frame_rate.num + settings.frame_rate.den / 2) / settings.frame_rate.den, 1));
    std::int64_t peaks = 0;
    if (settings.hrd) {
      fill = share_of(settings.hrd->bit_rate, settings.frame_rate, rest = 0);
      buffer = settings.hrd->cpb_bits;
      cbr = settings.hrd->cbr;
      peaks = std::min(settings.hrd->bit_rate - settings.bitrate, settings.bitrate);
    }
    const auto part = [&](int of_buffer, int of_target) {
      return std::max(buffer * of_buffer / 1000, target * of_target / 1000) + peaks;
    };
    // Pictures to come that are known let seconds be filled more closely, and let a clip that ends make good
    // a larger drift.
    const bool foreseen = settings.lookahead > 0;
    const int drift = foreseen ? std::min(120 + 112 * settings.lookahead / second, 300) : 120;
    planned_window = std::max<std::int64_t>(foreseen ? part(85, 95) : part(80, 90), 1);
    kept_window = std::max<std::int64_t>(foreseen ? part(92, 150) : part(88, 150), 1);
    // With peaks, scenes of minutes may differ once that is little of what was spent.
    const std::int64_t elapsed = target * static_cast<std::int64_t>(std::min<std::uint64_t>(number, 1 << 20));
    const std::int64_t longer = std::clamp<std::int64_t>(elapsed / 50 - settings.bitrate, 0, peaks);
    kept_drift = std::max<std::int64_t>(std::min({part(drift, drift + 30) + peaks * 2 / 5 + longer,
                                                  buffer * 35 / 100 + longer, buffer * 45 / 100}),
                                        1);
    planned_drift = std::max<std::int64_t>(kept_drift * 9 / 10, 1);
  }

  // The part that an account of hundreds of pictures needs of each.
  struct Spending {
    std::int64_t target, fill, buffer, kept_drift;
    bool cbr;
  };
  Spending spending() const { return {target, fill, buffer, kept_drift, cbr}; }

  // Returns whether pictures with these and those shares may be planned as one.
  bool same_rates(const RateShares& other) const {
    return target == other.target && fill == other.fill && buffer == other.buffer;
  }

  std::int64_t target = 0;  // bits of a picture
  int second = 1;           // pictures of a second
  std::int64_t fill = 0;    // what the buffer receives between two pictures
  std::int64_t buffer = 0;  // its size; 0: there is none
  bool cbr = false;         // filler data keep the buffer from overflowing
  // How far the bits spent since the beginning may be from the target: by a plan, and before a picture is
  // coded again. With a buffer of one second that is 12 % of a second's bits.
  std::int64_t planned_drift = 1;
  std::int64_t kept_drift = 1;
  // The same for the bits of any second, which are so within 10 %.
  std::int64_t planned_window = 1;
  std::int64_t kept_window = 1;
};

struct RateAccount {
  std::int64_t drift = 0;     // bits of the target that were not spent
  std::int64_t fullness = 0;  // bits in the buffer when the next picture is taken out
  // The same of the last pictures alone, which have a second with the next one.
  std::int64_t window = 0;
  // How many bits above and below the target every one of the next pictures may have, if no second is to
  // differ by more than most of what is planned.
  std::int64_t above = 0, below = 0;

  // The fewest bits of the next access unit that leave room for what the buffer receives.
  template <class Shares>
  std::int64_t least_without_filler(const Shares& shares) const {
    return shares.cbr ? fullness + shares.fill - shares.buffer : 0;
  }

  // The target changes from `before`: what was not spent is worth as many pictures as it was.
  void change_target(std::int64_t before, std::int64_t now) {
    if (before > 0 && now != before) drift = scaled(drift, now, before);
  }

  template <class Shares>
  void spend(std::int64_t bits, const Shares& shares) {
    drift += shares.target - bits;
    fullness = std::min(fullness + shares.fill - bits, shares.buffer);
  }

  // Forgets what cannot be made good: bits that were not spent, because the buffer was full.
  void forget(const RateShares& shares) { drift = std::min(drift, shares.kept_drift); }

  // Keeps the account within the bounds that reviews enforce.
  template <class Shares>
  void keep_within(const Shares& shares) {
    drift = std::clamp(drift, -shares.kept_drift, shares.kept_drift);
    fullness = std::max<std::int64_t>(fullness, 0);
  }
};

// The account of true sizes, which loses nothing by rounding.
class ExactAccount {
 public:
  // To be called before each picture. At the beginning nine tenths of the buffer are filled.
  void enter(const RateSettings& settings) {
    if (!settings.hrd) return;
    if (!begun_) account_.fullness = settings.hrd->cpb_bits / 10 * 9;
    begun_ = true;
    account_.fullness = std::min(account_.fullness, settings.hrd->cpb_bits);
  }

  // Returns by how many bits the buffer would overflow before the next picture, without filler data.
  std::int64_t overflow(std::int64_t bits, const RateSettings& settings) const {
    std::int64_t rest = fill_rest_;
    const std::int64_t fill = share_of(settings.hrd->bit_rate, settings.frame_rate, rest);
    return account_.fullness - bits + fill + (rest > 0 ? 1 : 0) - settings.hrd->cpb_bits;
  }

  void spend(std::int64_t bits, const RateSettings& settings, const RateShares& shares) {
    account_.change_target(target_, shares.target);
    target_ = shares.target;
    RateShares own = shares;
    own.target = share_of(settings.bitrate, settings.frame_rate, target_rest_);
    if (settings.hrd) own.fill = share_of(settings.hrd->bit_rate, settings.frame_rate, fill_rest_);
    account_.spend(bits, own);
    account_.forget(own);
    if (account_.fullness == own.buffer) fill_rest_ = 0;
  }

  const RateAccount& get() const { return account_; }

 private:
  RateAccount account_;
  std::int64_t target_ = 0;  // of the picture before
  std::int64_t target_rest_ = 0;
  std::int64_t fill_rest_ = 0;
  bool begun_ = false;
};

}  // namespace cu264::encoder
