// The part of a RateController that keeps to a target: which QP it asks for, and how many bits a picture that
// missed the target should have.
#include "encoder/rate_control/rate_controller.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "encoder/rate_control/gop_model.h"

namespace cu264::encoder {

namespace {

// Where durations change, a second consists of other pictures from one picture to the next, and a P picture
// after a cut may have taken what many have. No picture makes up for that alone: it keeps at least this much
// of its target.
std::int64_t least_of(const RateShares& shares, std::int64_t target) {
  return shares.second_bits > 0 || shares.has_p_pictures ? target * 2 / 3 : 0;
}

BitsCurve mean_of(const SizeCurve& sizes) {
  return BitsCurve([logs = logs_of(sizes)](int qp) { return bits_at(logs, qp * kQpOne); });
}

int qp_of(BitsCurve& mean, std::int64_t bits) {
  return mean.qp_for(std::max<std::int64_t>(bits, 1));
}

// Pictures that are assumed to have come before the first, and the most that the mean curves remember.
constexpr std::int64_t kAssumedPictures = 200, kAssumedOfGops = 50;
constexpr int kMaxEndStep = 3 * kQpOne;
constexpr std::int64_t kMaxTypicalWeight = 1000, kMaxLateWeight = 10, kMaxLateOfGops = 4;
constexpr int kMaxStepForBits = 10 * kQpOne;
// How far a still scene lowers the QP of P pictures, so that a second has its bits.
constexpr int kMaxStepOfGops = 4 * kQpOne;

}  // namespace

// A plan that used up a whole window at once would have to make up for it a second later, and again a second
// after that. So the room is divided among all pictures that share a second with an earlier one, and a third
// of it is left for pictures that differ from their neighbours.
void RateController::find_room(const RateShares& shares, RateAccount& account) const {
  const std::int64_t planned = shares.planned_window * 2 / 3;
  account.above = account.below = planned / std::max<std::int64_t>(shares.second / shares.span, 1);
  std::int64_t window = 0;
  for (auto late = unspent_.rbegin(); late != unspent_.rend(); ++late) {
    const std::int64_t next_ones = (shares.second - (shares.start - late->start)) / shares.span;
    if (next_ones <= 0) break;
    window += late->bits;
    account.above = std::min(account.above, (planned + window) / next_ones);
    account.below = std::min(account.below, (planned - window) / next_ones);
  }
}

void RateController::add_to(SizeCurve& mean, std::int64_t pictures, BitsCurve& curve, std::int64_t overhead,
                            const Correction& correction) {
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const std::int64_t bits = correction.corrected(curve.at(static_cast<int>(i) * 3 * kQpOne)) + overhead;
    mean[i] += (bits - mean[i]) / pictures;
  }
}

// The QP stays at what all pictures so far, and some typical ones assumed before them, would have needed
// together. So quality changes only where the drift, a second or the buffer require it.
int RateController::target_qp(ControlledPicture& own, const RateAccount& account) {
  const RateShares& shares = own.shares;
  const Correction& correction = corrections_[0];
  // 1.2 or 2.3 QP at the end of the band, and 4.7 where the sizes change with motion.
  const int most_pull = shares.has_p_pictures ? 1200 : own.control.settings.lookahead > 0 ? 300 : 600;
  const auto pull = static_cast<int>(scaled(account.drift, most_pull, shares.planned_drift));
  if (own.control.settings.gop != 1) return within_bounds(own, account, gop_qp(own, account, pull));
  const auto count = [&](BitsCurve& curve, const PictureControl& control) {
    ++targeted_;
    add_to(typical_sizes_, std::min(targeted_ + kAssumedPictures, kMaxTypicalWeight), curve,
           overhead_bits(control), correction);
    if (own.control.settings.lookahead == 0)
      add_to(late_sizes_, std::min(targeted_, kMaxLateWeight), curve, overhead_bits(control), correction);
  };
  if (!own.counted) count(own.curve, own.control);
  const int lookahead = own.control.settings.lookahead;
  std::size_t seen = std::min(announced_.size(), static_cast<std::size_t>(lookahead));
  for (; seen > 0 && !announced_[seen - 1].counted; --seen) {
    AnnouncedPicture& next = announced_[seen - 1];
    if (has_target(next.control.settings)) count(next.curve, next.control);
    next.counted = true;
  }
  const std::int64_t target = account.target_of(shares), extra = target - shares.target;
  const std::int64_t smooth =
      shares.smooth_target + scaled(extra, shares.smooth_target, std::max<std::int64_t>(shares.target, 1));
  BitsCurve typical = mean_of(typical_sizes_);
  const int typical_qp = qp_of(typical, smooth);
  int qp = typical_qp - pull;
  if (lookahead > 0) {
    const auto shift_of = [&](const RateShares& other) {
      if (other.smooth_target == shares.smooth_target) return 0;
      return qp_of(typical,
                   scaled(smooth, other.smooth_target, std::max<std::int64_t>(shares.smooth_target, 1))) -
             typical_qp;
    };
    qp = lookahead_qp(own, account, qp, shift_of);
  } else {
    BitsCurve late = mean_of(late_sizes_);
    const int richest = qp_of(late, smooth + account.above);
    const int poorest = std::max(richest, qp_of(late, smooth - account.below));
    qp = std::clamp(qp, richest, poorest);
  }
  return within_bounds(own, account, qp);
}

void RateController::count_settled(ControlledPicture& own) {
  const Correction exact{own.size, std::max<std::int64_t>(own.predicted, 1)};
  ++targeted_;
  add_to(typical_sizes_, std::min(targeted_ + kAssumedOfGops, kMaxTypicalWeight), own.curve,
         overhead_bits(own.control), exact);
  if (own.control.key) return;
  ++late_;
  add_to(late_sizes_, std::min(late_, kMaxLateOfGops), own.curve, overhead_bits(own.control), exact);
}

// As without P pictures the QP is one that all pictures so far would have needed together. Those that were
// coded count with their true sizes, and those that are announced with what is predicted.
int RateController::gop_qp(ControlledPicture& own, const RateAccount& account, int pull) {
  const RateShares& shares = own.shares;
  if (!std::exchange(assumed_gops_, true)) assume_gops(own);
  SizeCurve all = typical_sizes_, late = late_sizes_, rest{};
  std::int64_t pictures = std::min(targeted_ + kAssumedOfGops, kMaxTypicalWeight);
  std::int64_t late_pictures = std::min(late_, kMaxLateOfGops), rest_pictures = 0;
  const auto add = [&](BitsCurve& curve, const PictureControl& control) {
    const Correction& correction = correction_of(control);
    add_to(all, ++pictures, curve, overhead_bits(control), correction);
    add_to(rest, ++rest_pictures, curve, overhead_bits(control), correction);
    if (!control.key) add_to(late, ++late_pictures, curve, overhead_bits(control), correction);
  };
  add(own.curve, own.control);
  const auto seen = std::min(announced_.size(), static_cast<std::size_t>(own.control.settings.lookahead));
  for (std::size_t i = 0; i < seen && announced_[i].shares.same_rates(shares); ++i)
    add(announced_[i].curve, announced_[i].control);
  BitsCurve mean = mean_of(all);
  int qp = qp_of(mean, shares.smooth_target) - pull;
  if (own.to_come) {
    // The last pictures share what the clip has left.
    const std::int64_t left = (account.drift - account_.loan().bits()) / rest_pictures;
    BitsCurve mean_of_rest = mean_of(rest);
    qp = std::clamp(qp_of(mean_of_rest, shares.smooth_target + left), qp - kMaxEndStep, qp + kMaxEndStep);
  }
  if (own.control.key && late_ == 0) return qp;
  BitsCurve late_mean = mean_of(late);
  // A key picture is as good as the P pictures before it.
  if (!own.control.key) late_target_ = account.target_of(shares);
  const std::int64_t target = late_target_;
  const int richest = qp_of(late_mean, target + account.above);
  const int poorest = std::max(qp_of(late_mean, target - account.below), qp - kMaxStepOfGops);
  return std::clamp(qp, richest, std::max(richest, poorest));
}

// Typical pictures in GOPs as long as those of the stream.
void RateController::assume_gops(const ControlledPicture& own) {
  const int pictures = spread_of_key(own.control.settings);
  const LogCurve sizes = logs_of(typical_sizes_);
  for (std::size_t i = 0; i < typical_sizes_.size(); ++i) {
    const int qp_q8 = static_cast<int>(i) * 3 * kQpOne;
    const std::int64_t key = bits_at(sizes, own_qp_q8(PictureKind::key, qp_q8));
    typical_sizes_[i] = (key + (pictures - 1) * inter_bits(typical_sizes_[i], macroblocks_)) / pictures;
  }
}

int RateController::within_bounds(ControlledPicture& own, const RateAccount& account, int qp) {
  const RateShares& shares = own.shares;
  const Correction& correction = correction_of(own.control);
  const auto qp_for = [&](std::int64_t bits) {
    return own.curve.qp_for(
        correction.uncorrected(std::max<std::int64_t>(bits - overhead_bits(own.control), 1)));
  };
  const std::int64_t target = account.target_of(shares);
  const std::int64_t drift = account.drift + target, window = account.window + target;
  std::int64_t most = std::min(drift + shares.planned_drift, window + shares.planned_window);
  std::int64_t least = std::max(drift - shares.planned_drift, window - shares.planned_window);
  // A still scene gets bits for their own sake only where the clip would miss its bitrate, and not without
  // end.
  if (shares.has_p_pictures) {
    const std::int64_t enough =
        correction.corrected(own.curve.at(std::clamp(qp - kMaxStepForBits, 0, kMaxQpQ8)));
    least = std::min(drift - shares.planned_drift, enough + overhead_bits(own.control));
  }
  most = target + (most - target) * shares.spread;
  if (const std::int64_t own_least = least_of(shares, target); own_least > 0)
    most = std::max(most, own_least);
  if (shares.buffer > 0) {
    const std::int64_t low = std::min(shares.buffer / 10, account.fullness / 4);
    most = std::min(most, account.fullness - low);
    if (shares.has_p_pictures)
      most = std::min(most, account.fullness - left_in_buffer(own, account.fullness));
    least = std::max(least, account.least_without_filler(shares));
  }
  if (shares.second_bits > 0) least = std::max(least, least_of(shares, target));
  const int lowest = qp_for(most), highest = std::max(lowest, qp_for(least));
  return std::clamp(qp, lowest, highest);
}

// Returns 0.4 % of what a clip is to have.
std::int64_t RateController::drift_at_end(const ControlledPicture& own, std::uint64_t number) {
  const RateShares& shares = own.shares;
  if (shares.second_bits > 0)
    return scaled(shares.second_bits, shares.start + shares.span + own.time_to_come, shares.second) / 250;
  return shares.target * static_cast<std::int64_t>(number + static_cast<std::uint64_t>(*own.to_come)) / 250;
}

int RateController::lookahead_qp(ControlledPicture& own, const RateAccount& account, int goal,
                                 const std::function<int(const RateShares&)>& shift_of) {
  const std::size_t lookahead = static_cast<std::size_t>(own.control.settings.lookahead);
  const std::int64_t factor = corrections_[0].corrected(std::int64_t{1} << 24);
  outlook_.begin(own.shares, account, unspent_);
  outlook_.add(own.curve, own.control, own.shares, factor);
  const std::size_t known = std::min(announced_.size(), lookahead);
  std::size_t seen = 0;
  for (; seen < known && announced_[seen].shares.same_rates(own.shares); ++seen) {
    AnnouncedPicture& next = announced_[seen];
    if (own.shares.second_bits == 0) {
      outlook_.add(next.curve, next.control, own.shares, factor);
      continue;
    }
    next.shares.end_surplus = own.shares.end_surplus, next.shares.end_absorbers = own.shares.end_absorbers;
    outlook_.add(next.curve, next.control, next.shares, factor, shift_of(next.shares));
  }
  std::optional<std::int64_t> at_end;
  if (own.to_come && seen == known) at_end = drift_at_end(own, next_number() - 1);
  return outlook_.qp_near(goal, at_end);
}

// Returns the bits that the slices should have if the picture breaks a bound that reviews enforce, or if a
// clip would end too far from its target.
std::optional<std::int64_t> RateController::kept_target(ControlledPicture& own,
                                                        const RateAccount& account) const {
  const RateShares& shares = own.shares;
  const std::int64_t overhead = overhead_bits(own.control), total = own.size + overhead;
  const std::int64_t target = account.target_of(shares);
  std::int64_t most =
      target +
      std::min(account.drift + shares.kept_drift, account.window + shares.kept_window) * shares.spread;
  const std::int64_t least =
      target + std::max(account.drift - shares.kept_drift, account.window - shares.kept_window);
  // The next pictures may miss in the same way, so this one leaves them some room.
  const std::int64_t room = std::min(target / 6, shares.kept_window / 2);
  if (const std::int64_t own_least = least_of(shares, target); own_least > 0)
    most = std::max(most, own_least + room);
  if (total > most) return most - room - overhead;
  if (total < least && !shares.has_p_pictures) return least + room - overhead;
  if (!own.to_come || shares.has_p_pictures) return std::nullopt;
  // What a clip misses its target by at its end remains an error of the whole clip, so the last pictures
  // share in making it good.
  constexpr int kShare = 2 * kQpOne;
  const auto size_at = [&](int qp_q8) {
    const std::int64_t bits = own.curve.at(std::clamp(qp_q8, 0, kMaxQpQ8));
    return scaled(own.size, bits, std::max<std::int64_t>(own.predicted, 1));
  };
  const std::int64_t allowed =
      drift_at_end(own, reviewed_ - 1) + scaled(own.time_to_come, shares.kept_window, shares.second);
  const std::int64_t drift = account.drift + target - total;
  std::int64_t bits = own.size;
  if (drift < -allowed)
    bits = std::max({bits + drift + allowed, size_at(own.qp_q8 + kShare), least + room - overhead});
  if (drift > allowed)
    bits = std::min({bits + drift - allowed, size_at(own.qp_q8 - kShare), most - room - overhead});
  const bool leads_there = drift < 0 ? bits < own.size : bits > own.size;
  return leads_there ? std::optional(bits) : std::nullopt;
}

}  // namespace cu264::encoder
