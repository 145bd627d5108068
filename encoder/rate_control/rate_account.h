// The two accounts of rate control: the difference between the bits spent and the target, and the buffer of
// the hypothetical reference decoder (H.264 C.1), out of which each picture is taken at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "encoder/rate_control/bits_curve.h"
#include "encoder/rate_control/rate_settings.h"

namespace cu264::encoder {

// What `units` of `unit` seconds have of a rate. `rest` keeps what rounding down loses for the next picture.
inline std::int64_t share_of(std::int64_t rate, std::int64_t units, Rational unit, std::int64_t& rest) {
  __extension__ using Wide = __int128;
  const Wide total = static_cast<Wide>(rate) * units * unit.num + rest;
  rest = static_cast<std::int64_t>(total % unit.den);
  return static_cast<std::int64_t>(total / unit.den);
}

// The same of one picture.
inline std::int64_t share_of(std::int64_t rate, Rational frame_rate, std::int64_t& rest) {
  return share_of(rate, 1, {frame_rate.den, frame_rate.num}, rest);
}

// A second in units of `unit` seconds, at least 1.
inline std::int64_t units_of_second(Rational unit) {
  return std::max<std::int64_t>((std::int64_t{unit.den} + unit.num / 2) / unit.num, 1);
}

// What the settings mean for each picture.
struct RateShares {
  // `number` is the picture's, from 0, and `duration` is PictureControl's.
  explicit RateShares(const RateSettings& settings, std::uint64_t number = 0, std::int64_t duration = 0) {
    const Rational usual{settings.frame_rate.den, settings.frame_rate.num};
    const std::int64_t pictures_of_second = units_of_second(usual);
    std::int64_t rest = 0;
    nominal_target = target = share_of(settings.bitrate, settings.frame_rate, rest);
    second = pictures_of_second;
    if (settings.time_base) {
      second = units_of_second(*settings.time_base);
      span = duration > 0 ? std::min(duration, kMaxSeconds * second) : units_of(usual, *settings.time_base);
      target = share_of(settings.bitrate, span, *settings.time_base, rest = 0);
      second_bits = std::max<std::int64_t>(settings.bitrate, 1);
    }
    smooth_target = target;
    std::int64_t peaks = 0;
    if (settings.hrd) {
      fill = share_of(settings.hrd->bit_rate, settings.frame_rate, rest = 0);
      buffer = settings.hrd->cpb_bits;
      cbr = settings.hrd->cbr;
      peaks = std::min(settings.hrd->bit_rate - settings.bitrate, settings.bitrate);
    }
    const std::int64_t held = buffer + second_bits;
    const auto part = [&](std::int64_t of_held, std::int64_t of_target) {
      return std::max(held * of_held / 1000, target * of_target / 1000) + peaks;
    };
    // Pictures to come that are known let seconds be filled more closely, and let a clip that ends make good
    // a larger drift.
    const bool has_lookahead = settings.lookahead > 0;
    has_p_pictures = settings.gop != 1;
    const std::int64_t longest = has_p_pictures ? 300 : 120;
    const std::int64_t drift =
        has_lookahead ? std::min<std::int64_t>(longest + 112 * settings.lookahead / pictures_of_second, 300)
                      : longest;
    planned_window = std::max<std::int64_t>(has_lookahead ? part(85, 95) : part(80, 90), 1);
    kept_window = std::max<std::int64_t>(has_lookahead ? part(92, 150) : part(88, 150), 1);
    // The sizes of P pictures change with motion, and quality should not change as much.
    if (has_p_pictures) {
      planned_window = std::max<std::int64_t>(part(250, 250), 1);
      kept_window = std::max<std::int64_t>(part(280, 400), 1);
    }
    // With peaks, scenes of minutes may differ once that is little of what was spent.
    const std::int64_t elapsed =
        nominal_target * static_cast<std::int64_t>(std::min<std::uint64_t>(number, 1 << 20));
    const std::int64_t longer = std::clamp<std::int64_t>(elapsed / 50 - settings.bitrate, 0, peaks);
    kept_drift = part(drift, drift + 30) + peaks * 2 / 5 + longer;
    if (second_bits == 0) kept_drift = std::min({kept_drift, buffer * 35 / 100 + longer, buffer * 45 / 100});
    kept_drift = std::max<std::int64_t>(kept_drift, 1);
    planned_drift = std::max<std::int64_t>(kept_drift * 9 / 10, 1);
  }

  // The part that an account of hundreds of pictures needs of each.
  struct Spending {
    std::int64_t target, nominal_target, second_bits, end_surplus, end_absorbers, fill, buffer, kept_drift;
    bool cbr;

    // How much of its share a picture may take from the surplus, or give to it.
    std::int64_t absorber() const { return std::min(target, second_bits); }
  };
  Spending spending() const {
    return {target, nominal_target, second_bits, end_surplus, end_absorbers, fill, buffer, kept_drift, cbr};
  }

  // Returns whether pictures with these shares and with the others may be planned as one.
  bool same_rates(const RateShares& other) const {
    return nominal_target == other.nominal_target && fill == other.fill && buffer == other.buffer;
  }

  std::int64_t target = 0;          // bits of the picture
  std::int64_t nominal_target = 0;  // of one that lasts as long as the frame rate says
  std::int64_t smooth_target = 0;   // the mean of the pictures just before and this one
  // Time is counted in pictures; with RateSettings::time_base in its units.
  std::int64_t second = 1;
  std::int64_t span = 1;        // of the picture
  bool has_p_pictures = false;  // in the stream
  // A key picture before P pictures: over how many pictures its bits count.
  int spread = 1;
  std::int64_t start = 0;        // of the picture, since the first one; its owner sets it
  std::int64_t second_bits = 0;  // of pictures that count their durations: the bits of a second
  // Where the end of a clip is seen: the surplus of its pictures, and the shares of those that can use it.
  std::int64_t end_surplus = 0, end_absorbers = 0;
  std::int64_t fill = 0;    // what the buffer receives between two pictures
  std::int64_t buffer = 0;  // its size; 0: there is none
  bool cbr = false;         // filler data keep the buffer from overflowing
  // How far the bits spent since the beginning may be from the target: by a plan, and before a picture is
  // coded again. With a buffer of one second that is 12 % of a second's bits.
  std::int64_t planned_drift = 1;
  std::int64_t kept_drift = 1;
  // The same for the bits of any second, which so stay within 10 %.
  std::int64_t planned_window = 1;
  std::int64_t kept_window = 1;

 private:
  static constexpr std::int64_t kMaxSeconds = 3600;  // of one picture

  static std::int64_t units_of(Rational time, Rational unit) {
    __extension__ using Wide = __int128;
    const Wide num = static_cast<Wide>(time.num) * unit.den, den = static_cast<Wide>(time.den) * unit.num;
    return std::max<std::int64_t>(static_cast<std::int64_t>((num + den / 2) / den), 1);
  }
};

struct RateAccount {
  std::int64_t drift = 0;  // bits of the target that were not spent
  // Where pictures count their durations: what the drift has no room for. A still picture may last for so
  // many seconds that no QP lets it take its share, for example; later pictures then have parts of the rest.
  std::int64_t surplus = 0;
  // What was added to the surplus, and the shares of pictures that could use it, in sums that fade.
  std::int64_t surplus_sum = 0, absorber_sum = 0;
  std::int64_t fullness = 0;  // bits in the buffer when the next picture is taken out
  // The same of the last pictures alone, which have a second with the next one.
  std::int64_t window = 0;
  // How many bits above and below the target each of the next pictures may have, if plans are to use only two
  // thirds of what a second may differ by.
  std::int64_t above = 0, below = 0;

  // What the next picture is to have: its share, and a part of the surplus. That part adds at most five
  // times the share and takes at most half of it away, where a share counts for at most a second.
  std::int64_t target_of(const RateShares::Spending& shares) const {
    if (shares.second_bits == 0) return shares.target;
    const std::int64_t absorber = shares.absorber();
    std::int64_t part = 0;
    if (shares.end_absorbers > 0) {
      part = scaled(surplus + shares.end_surplus, absorber, shares.end_absorbers);
    } else {
      // The surplus is used up within a second or so; part of what is usually added to it is used beforehand.
      part = scaled(surplus, absorber, shares.second_bits) +
             scaled(absorber * 3 / 4, surplus_sum, std::max(absorber_sum, shares.second_bits));
    }
    constexpr std::int64_t kMaxMultiple = 5, kMinDivisor = 2;
    return shares.target + std::clamp(part, -absorber / kMinDivisor, absorber * kMaxMultiple);
  }

  std::int64_t target_of(const RateShares& shares) const { return target_of(shares.spending()); }

  // The fewest bits of the next access unit that leave room for what the buffer receives.
  template <class Shares>
  std::int64_t least_without_filler(const Shares& shares) const {
    return shares.cbr ? fullness + shares.fill - shares.buffer : 0;
  }

  // The target changes from `before`: what was not spent is rescaled, so that it is worth as many pictures as
  // before.
  void change_target(std::int64_t before, std::int64_t now) {
    if (before <= 0 || now == before) return;
    for (std::int64_t* bits : {&drift, &surplus, &surplus_sum, &absorber_sum})
      *bits = scaled(*bits, now, before);
  }

  void spend(std::int64_t bits, const RateShares::Spending& shares) {
    const std::int64_t target = target_of(shares);
    surplus -= target - shares.target;
    if (shares.second_bits > 0) {
      constexpr std::int64_t kSecondsOfMemory = 10;
      const std::int64_t kept = kSecondsOfMemory * shares.second_bits, absorber = shares.absorber();
      surplus_sum = scaled(surplus_sum, kept, kept + absorber);
      absorber_sum = scaled(absorber_sum, kept, kept + absorber) + absorber;
    }
    drift += target - bits;
    fullness = std::min(fullness + shares.fill - bits, shares.buffer);
  }

  // Forgets what cannot be made good: bits that were not spent, because the buffer was full.
  void forget(const RateShares& shares) {
    if (shares.second_bits > 0) return move_to_surplus(shares);
    drift = std::min(drift, shares.kept_drift);
  }

  // Keeps the account within the bounds that reviews enforce.
  template <class Shares>
  void keep_within(const Shares& shares) {
    if (shares.second_bits > 0) return move_to_surplus(shares);
    drift = std::clamp(drift, -shares.kept_drift, shares.kept_drift);
    fullness = std::max<std::int64_t>(fullness, 0);
  }

 private:
  template <class Shares>
  void move_to_surplus(const Shares& shares) {
    constexpr std::int64_t kMaxSeconds = 60;
    const std::int64_t most = kMaxSeconds * shares.second_bits;
    const std::int64_t kept = std::clamp(drift, -shares.kept_drift, shares.kept_drift);
    surplus = std::clamp(surplus + drift - kept, -most, most);
    surplus_sum = std::clamp(surplus_sum + drift - kept, -most, most);
    drift = kept;
  }
};

// What a key picture takes beyond its share of the rate is lent to it, and the pictures after it pay it back
// in equal parts.
class KeyLoan {
 public:
  // What the next picture pays back. It keeps a quarter of its share.
  std::int64_t payment(std::int64_t share) const {
    return pictures_ > 0 ? std::min(bits_ / pictures_, share * 3 / 4) : 0;
  }
  void pay(std::int64_t bits) {
    bits_ -= bits;
    if (pictures_ > 1 || (pictures_ == 1 && bits_ == 0)) --pictures_;
  }
  void lend(std::int64_t bits, int pictures) {
    bits_ += bits;
    pictures_ = std::max(pictures_, pictures);
  }
  std::int64_t bits() const { return bits_; }
  // The clip ends after so many further pictures.
  void end_after(int pictures) { pictures_ = std::min(pictures_, std::max(pictures, 1)); }

 private:
  std::int64_t bits_ = 0;
  int pictures_ = 0;
};

// The account of true sizes, which loses nothing by rounding.
class ExactAccount {
 public:
  // Call this before each picture. At the beginning nine tenths of the buffer are filled.
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

  // Returns the next picture's initial_cpb_removal_delay: how long the buffer takes to receive what it holds.
  // Bits of the picture begin to arrive no earlier than that before the picture leaves (H.264 C.1.1), so a
  // buffer that is rounded down by a unit at one picture is so for all after it. Fractions of a bit count,
  // because with them left out it would be rounded down by more than the unit that a later delay may exceed.
  std::int64_t removal_delay(const RateSettings& settings) const {
    __extension__ using Wide = __int128;
    const Wide fractions = settings.frame_rate.num;  // of a bit, in which fill_rest_ counts
    const Wide held = account_.fullness * fractions + fill_rest_;
    return static_cast<std::int64_t>(held * kHrdClock / (settings.hrd->bit_rate * fractions));
  }

  // Returns how many bits of its target the picture did not spend.
  std::int64_t spend(std::int64_t bits, const RateSettings& settings, const RateShares& shares) {
    account_.change_target(target_, shares.nominal_target);
    target_ = shares.nominal_target;
    RateShares own = shares;
    own.target = settings.time_base
                     ? share_of(settings.bitrate, shares.span, *settings.time_base, target_rest_)
                     : share_of(settings.bitrate, settings.frame_rate, target_rest_);
    if (settings.hrd) own.fill = share_of(settings.hrd->bit_rate, settings.frame_rate, fill_rest_);
    const std::int64_t paid = loan_.payment(own.target);
    loan_.pay(paid);
    own.target -= paid;
    if (own.spread > 1 && bits > own.target) {
      const std::int64_t lent = (bits - own.target) / own.spread * (own.spread - 1);
      loan_.lend(lent, own.spread - 1);
      own.target += lent;
    }
    account_.spend(bits, own.spending());
    account_.forget(own);
    if (account_.fullness == own.buffer) fill_rest_ = 0;
    return own.target - bits;
  }

  const KeyLoan& loan() const { return loan_; }
  void end_after(int pictures) { loan_.end_after(pictures); }
  const RateAccount& get() const { return account_; }

 private:
  RateAccount account_;
  std::int64_t target_ = 0;  // the nominal one of the previous picture
  std::int64_t target_rest_ = 0;
  std::int64_t fill_rest_ = 0;
  KeyLoan loan_;
  bool begun_ = false;
};

}  // namespace cu264::encoder
