#include "encoder/rate_control/rate_controller.h"

#include <algorithm>
#include <utility>

#include "encoder/rate_control/gop_model.h"

namespace cu264::encoder {
namespace {

constexpr int kPicturesOfMemory = 64;     // that the correction of the curves remembers
constexpr int kWeightOfFirst = 16;        // pictures that the first one counts as
constexpr int kMaxCodings = 12;           // then a picture that is too large gets QP 51
constexpr int kMaxCodingsToUseLimit = 5;  // codings, if it is too small

bool needs_first(const RateSettings& settings) {
  return has_target(settings) || settings.limit_bytes > 0;
}

// Returns the bits that a limit leaves to the slices.
std::int64_t slice_limit(const PictureControl& control) {
  return std::max<std::int64_t>(8 * control.settings.limit_bytes - overhead_bits(control), 1);
}

// The sizes to aim at under a limit. The first plan leaves 4 % of room. A further coding knows the size of
// the first, misses by only about one per cent, and leaves less.
std::int64_t first_aim(std::int64_t limit) {
  return std::max<std::int64_t>(limit - limit / 25, 1);
}
std::int64_t aim_below(std::int64_t limit) {
  return std::max<std::int64_t>(limit - limit / 64, 1);
}

// Returns whether a limit that required a higher QP than quality did is hardly used.
bool leaves_room(std::int64_t size, std::int64_t limit) {
  return size < limit - limit / 20;
}

// Bits that stay in the buffer. initial_cpb_removal_delay is rounded down to units of the clock, so a
// decoder's buffer may hold less than ours.
std::int64_t buffer_reserve(const HrdParams& hrd) {
  return hrd.bit_rate / kHrdClock + 1;
}

}  // namespace

// What a P picture takes says little about the next, which may be the first one after a cut. So a part of
// what the buffer holds is left to it.
std::int64_t RateController::left_in_buffer(const ControlledPicture& own, std::int64_t fullness) {
  if (!own.shares.has_p_pictures) return fullness / 10;
  return own.control.key ? fullness / 3 : fullness / 2;
}

bool RateController::can_plan(const PictureControl& control) const {
  const std::uint64_t next = next_number();
  if (control.settings.gop != 1) return next == settled_;
  if (next >= settled_ + kFeedbackDistance || next >= reviewed_ + kReviewDistance) return false;
  return next == 0 || settled_ > 0 || !needs_first(control.settings);
}

bool RateController::waits_for_first() const {
  return settled_ == 0 && pictures_.size() == 1 && needs_first(pictures_.front().control.settings);
}

// A picture of few bits, such as a black one, teaches little and displaces little of what was learnt.
void RateController::Correction::learn(std::int64_t bits, std::int64_t said, std::int64_t share, int weight,
                                       int memory) {
  if (said == 0 || bits == 0) return;
  const std::int64_t usual = std::max<std::int64_t>(share, said / 4);
  const std::int64_t kept = memory * usual, forgets = kept + said;
  actual = scaled(actual, kept, forgets) + weight * bits;
  predicted = scaled(predicted, kept, forgets) + weight * said;
}

void RateController::learn_before(std::uint64_t number, const PictureControl& control) {
  if (control.settings.gop != 1) return;
  Correction& correction = correction_of(control);
  if (number > 0 && learned_ == 0 && needs_first(control.settings)) {
    const ControlledPicture& first = at(learned_++);
    correction.learn(first.size, first.predicted, first.shares.target, kWeightOfFirst, kPicturesOfMemory);
  }
  while (learned_ + kReviewDistance <= number) {
    const Step& step = step_of(learned_++);
    correction.learn(step.first, step.planned, step.spending.target, 1, kPicturesOfMemory);
  }
}

// How much P pictures take follows from motion, which changes faster than the measure tells. So the last few
// count, each of them as much, whatever its size.
void RateController::learn_settled(const ControlledPicture& own) {
  constexpr std::int64_t kOne = 1 << 24;
  constexpr int kMemory = 4;
  if (own.predicted == 0) return;
  Correction& correction = correction_of(own.control);
  const std::int64_t ratio = std::max<std::int64_t>(scaled(own.size, kOne, own.predicted), 1);
  const bool first = correction.predicted != kOne;
  correction = {first ? ratio : correction.actual + (ratio - correction.actual) / kMemory, kOne};
}

RateAccount RateController::settled_account(std::uint64_t number) {
  const RateSettings& settings = at(number).control.settings;
  const RateShares& shares = at(number).shares;
  RateAccount account = account_.get();
  if (number == 0) {
    ExactAccount beginning;
    beginning.enter(settings);
    account = beginning.get();
  } else {
    account.change_target(at(number - 1).shares.nominal_target, shares.nominal_target);
    account.fullness = std::min(account.fullness, shares.buffer);
  }
  unspent_.clear();
  std::uint64_t oldest = number;
  while (oldest > first_ && shares.start + shares.span - step_of(oldest - 1).start <= shares.second) --oldest;
  for (; oldest < number; ++oldest) {
    const Step& step = step_of(oldest);
    std::int64_t unspent = step.unspent;
    if (step.nominal_target != shares.nominal_target && step.nominal_target > 0)
      unspent = scaled(unspent, shares.nominal_target, step.nominal_target);
    account.window += unspent;
    unspent_.push_back({unspent, step.start});
  }
  find_room(shares, account);
  return account;
}

RateAccount RateController::account_before(std::uint64_t number, bool reviewing) {
  const RateSettings& settings = at(number).control.settings;
  const RateShares& own_shares = at(number).shares;
  RateAccount account;
  if (!has_target(settings) && !settings.hrd) return account;
  if (settings.gop != 1) return settled_account(number);
  std::uint64_t next = 0;
  std::int64_t target = 0;  // of the previous picture
  if (number >= kFeedbackDistance) {
    next = number - kFeedbackDistance + 1;
    account = at(next - 1).after;
    target = at(next - 1).shares.nominal_target;
  } else {
    ExactAccount beginning;
    beginning.enter(at(0).control.settings);
    account = beginning.get();
  }
  unspent_.clear();
  __extension__ using Wide = __int128;
  constexpr int kFactorBits = 24;
  const std::int64_t factor = corrections_[0].corrected(std::int64_t{1} << kFactorBits);
  const std::uint64_t first_planned =
      reviewing ? number : std::max(next, number - std::min<std::uint64_t>(number, kReviewDistance - 1));
  auto step = steps_.cbegin() + static_cast<std::ptrdiff_t>(next - first_);
  for (; next < number; ++next, ++step) {
    std::int64_t bits =
        next < first_planned
            ? step->reviewed
            : static_cast<std::int64_t>(Wide{step->planned} * factor >> kFactorBits) + step->overhead;
    const RateShares::Spending& shares = step->spending;
    bits = std::max(bits, account.least_without_filler(shares));
    account.change_target(target, shares.nominal_target);
    target = shares.nominal_target;
    std::int64_t unspent = account.target_of(shares) - bits;
    account.spend(bits, shares);
    account.keep_within(shares);
    if (own_shares.start + own_shares.span - step->start <= own_shares.second) {
      if (target != own_shares.nominal_target && target > 0)
        unspent = scaled(unspent, own_shares.nominal_target, target);
      account.window += unspent;
      unspent_.push_back({unspent, step->start});
    }
  }
  account.change_target(target, own_shares.nominal_target);
  if (own_shares.second_bits > 0) account.keep_within(own_shares);
  if (!reviewing && settings.lookahead == 0) find_room(own_shares, account);
  return account;
}

void RateController::announce(BitsCurve curve, const PictureControl& control, int crf_qp_q8) {
  announced_.push_back({std::move(curve), control, next_shares(control), crf_qp_q8});
}

void RateController::replace_next(BitsCurve curve, const PictureControl& control) {
  announced_.front().curve = std::move(curve);
  announced_.front().control = control;
}

RateShares RateController::next_shares(const PictureControl& control) {
  RateShares shares(control.settings, next_number() + announced_.size(), control.duration);
  shares.start = clock_;
  clock_ += shares.span;
  if (!control.settings.time_base) return shares;
  // Times that are rounded, or that jitter, must not move the QP from picture to picture.
  const std::int64_t longest = shares.second / 8;
  late_starts_.push_back(shares.start);
  while (late_starts_.size() > 1 && clock_ - late_starts_.front() > longest) late_starts_.pop_front();
  const auto pictures = static_cast<std::int64_t>(late_starts_.size());
  shares.smooth_target = scaled(shares.target, clock_ - late_starts_.front(), shares.span) / pictures;
  return shares;
}

PictureQp RateController::plan() {
  const std::uint64_t number = next_number();
  AnnouncedPicture next = std::move(announced_.front());
  announced_.pop_front();
  const PictureControl& control = next.control;
  const int crf_qp_q8 = next.crf_qp_q8;
  learn_before(number, control);
  ControlledPicture& own = pictures_.emplace_back(std::move(next.curve), control, next.shares);
  own.counted = next.counted;
  if (ended_ && announced_.size() < static_cast<std::size_t>(control.settings.lookahead)) {
    own.to_come = static_cast<int>(announced_.size());
    own.time_to_come = clock_ - own.shares.start - own.shares.span;
    if (own.shares.second_bits > 0) see_end(own);
  }
  if (control.settings.gop != 1) share_loan(own);
  steps_.push_back({own.shares.spending(), own.shares.start, overhead_bits(control)});
  steps_.back().nominal_target = own.shares.nominal_target;
  const RateSettings& settings = control.settings;
  const RateAccount account = account_before(number, false);
  if (control.qp) {
    own.wanted_q8 = *control.qp * 256;
  } else if (has_target(settings)) {
    own.wanted_q8 = target_qp(own, account);
  } else if (settings.crf_q8) {
    own.wanted_q8 = crf_qp_q8;
  } else {
    own.wanted_q8 = settings.exact ? 0 : settings.qp * 256;
  }
  int qp_q8 = own.wanted_q8;
  const Correction& correction = correction_of(control);
  const auto keep_below = [&](std::int64_t limit) {
    const bool fits = correction.corrected(own.curve.at(qp_q8)) <= limit;
    if (!fits) qp_q8 = std::max(qp_q8, own.curve.qp_for(correction.uncorrected(first_aim(limit))));
  };
  if (settings.limit_bytes > 0) keep_below(slice_limit(control));
  if (settings.hrd) {
    const std::int64_t limit = account.fullness - left_in_buffer(own, account.fullness);
    keep_below(std::max<std::int64_t>(limit - overhead_bits(control), 1));
  }
  const bool limited = qp_q8 > own.wanted_q8;
  const PictureQp qp = set_qp(own, qp_q8);
  if (!limited) own.wanted_q8 = own.qp_q8;  // as rows allow
  step_of(number).planned = own.predicted;
  return qp;
}

void RateController::share_loan(ControlledPicture& own) {
  RateShares& shares = own.shares;
  if (own.to_come) account_.end_after(*own.to_come + 1);
  if (own.control.key) {
    shares.spread = spread_of_key(own.control.settings);
    if (own.to_come) shares.spread = std::min(shares.spread, *own.to_come + 1);
  }
  shares.target -= account_.loan().payment(shares.target);
}

void RateController::see_end(ControlledPicture& own) {
  RateShares& shares = own.shares;
  shares.end_surplus = shares.end_absorbers = 0;
  const auto add = [&](BitsCurve& curve, const PictureControl& control, const RateShares& other) {
    const std::int64_t most = correction_of(control).corrected(curve.at(control.qp ? *control.qp * 256 : 0)) +
                              overhead_bits(control);
    if (most < other.target) {
      shares.end_surplus += other.target - most;
    } else {
      shares.end_absorbers += other.spending().absorber();
    }
  };
  add(own.curve, own.control, shares);
  for (AnnouncedPicture& next : announced_) add(next.curve, next.control, next.shares);
  shares.end_absorbers = std::max<std::int64_t>(shares.end_absorbers, 1);
}

PictureQp RateController::set_qp(ControlledPicture& own, int qp_q8) {
  const PictureKind kind = kind_of(own.control);
  const int own_q8 = own_qp_q8(kind, qp_q8);
  PictureQp qp{own_q8 / 256, (own_q8 % 256 * mb_height_ + 255) / 256};
  if (qp.raised_rows == mb_height_) qp = {qp.qp + 1, 0};
  own.qp_q8 = stream_qp_q8(kind, qp.qp * 256 + qp.raised_rows * 256 / mb_height_);
  own.predicted = own.curve.at(own.qp_q8);
  return qp;
}

std::optional<std::int64_t> RateController::review_target(ControlledPicture& own,
                                                          const RateAccount& account) const {
  const RateSettings& settings = own.control.settings;
  const RateShares& shares = own.shares;
  const std::int64_t overhead = overhead_bits(own.control), total = own.size + overhead;
  std::optional<std::int64_t> target;
  const auto at_most = [&](std::int64_t bits) { target = std::min(target.value_or(bits), bits); };
  if (settings.limit_bytes > 0) {
    const std::int64_t limit = slice_limit(own.control);
    if (own.size > limit) at_most(aim_below(limit));
    if (own.qp_q8 > own.wanted_q8 && leaves_room(own.size, limit)) target = aim_below(limit);
  }
  const bool may_grow = !target && own.qp_q8 == own.wanted_q8 && own.qp_q8 > 0;
  if (has_target(settings) && !own.control.qp) {
    if (const auto kept = kept_target(own, account)) {
      if (*kept <= own.size) {
        at_most(*kept);
      } else if (may_grow) {
        target = kept;
      }
    }
  }
  if (settings.hrd && shares.has_p_pictures) {
    const std::int64_t left = left_in_buffer(own, account.fullness);
    if (total > account.fullness - left * 3 / 4) at_most(account.fullness - left - overhead);
  } else if (settings.hrd && total > account.fullness - shares.buffer / 50) {
    at_most(std::max(account.fullness - shares.buffer / 25, account.fullness * 3 / 4) - overhead);
  }
  return target;
}

void RateController::remember(ControlledPicture& own, bool too_low) {
  if (too_low && own.qp_q8 > own.too_low_q8) own.too_low_q8 = own.qp_q8, own.too_low_size = own.size;
  if (!too_low) own.fits_q8 = own.qp_q8, own.fits_size = own.size;
  // The bytes before the slices may have become more.
  if (own.fits_q8 <= own.too_low_q8) own.fits_q8 = -1;
}

std::optional<PictureQp> RateController::again(ControlledPicture& own, std::int64_t bits) {
  const std::int64_t wanted =
      scaled(std::max<std::int64_t>(bits, 1), own.predicted, std::max<std::int64_t>(own.size, 1));
  int qp_q8 = own.curve.qp_for(std::max<std::int64_t>(wanted, 1));
  if (!has_target(own.control.settings)) qp_q8 = std::max(qp_q8, own.wanted_q8);
  if (own.too_low_q8 >= 0 && own.fits_q8 >= 0) {
    // Sizes are a convex function of the QP, so the chord's are a bound.
    const bool between = qp_q8 > own.too_low_q8 && qp_q8 < own.fits_q8;
    if (!between && own.too_low_size > own.fits_size)
      qp_q8 = own.too_low_q8 + static_cast<int>(scaled(own.too_low_size - bits, own.fits_q8 - own.too_low_q8,
                                                       own.too_low_size - own.fits_size));
    qp_q8 = std::clamp(qp_q8, own.too_low_q8 + 1, own.fits_q8);
  } else if (own.too_low_q8 >= 0) {
    const int step = std::max(8 << own.codings, 256 / mb_height_ + 1);
    qp_q8 = std::max(qp_q8, own.too_low_q8 + step);
  }
  if (own.too_low_q8 >= 0 && own.codings >= kMaxCodings) qp_q8 = kMaxQpQ8;
  const int before = own.qp_q8;
  const PictureQp qp = set_qp(own, std::min(qp_q8, kMaxQpQ8));
  if (own.qp_q8 == before) return std::nullopt;
  ++own.codings;
  return qp;
}

std::optional<PictureQp> RateController::review(std::uint64_t number, std::int64_t slice_bytes) {
  ControlledPicture& own = at(number);
  reviewed_ = number + 1;
  own.size = step_of(number).first = 8 * slice_bytes;
  std::optional<PictureQp> qp;
  const RateAccount account = account_before(number, true);
  if (const auto target = review_target(own, account); target && slice_bytes > 0) {
    if (own.control.settings.limit_bytes > 0) remember(own, own.size > slice_limit(own.control));
    const std::int64_t predicted = own.predicted;
    qp = again(own, *target);
    if (qp) {
      step_of(number).reviewed =
          scaled(own.size, own.predicted, std::max<std::int64_t>(predicted, 1)) + overhead_bits(own.control);
      return qp;
    }
  }
  step_of(number).reviewed = own.size + overhead_bits(own.control);
  return std::nullopt;
}

std::optional<PictureQp> RateController::review_again(std::uint64_t number, std::int64_t slice_bytes) {
  ControlledPicture& own = at(number);
  own.size = 8 * slice_bytes;
  const RateSettings& settings = own.control.settings;
  if (settings.limit_bytes == 0) return std::nullopt;
  const std::int64_t limit = slice_limit(own.control);
  if (own.size > limit) {
    if (own.qp_q8 == kMaxQpQ8) return std::nullopt;
    remember(own, true);
    return again(own, aim_below(limit));
  }
  // With a bitrate, the room is for the next pictures.
  const bool wants_more =
      own.qp_q8 > own.wanted_q8 && !has_target(settings) && own.codings < kMaxCodingsToUseLimit;
  if (!wants_more || !leaves_room(own.size, limit)) return std::nullopt;
  remember(own, false);
  return again(own, aim_below(limit));
}

RateController::Settlement RateController::settle(std::uint64_t number) {
  ControlledPicture& own = at(number);
  const RateSettings& settings = own.control.settings;
  account_.enter(settings);
  Settlement result;
  result.mean_qp = own_qp_q8(kind_of(own.control), own.qp_q8) / 256.0;
  std::int64_t limit = settings.limit_bytes > 0 ? 8 * settings.limit_bytes : std::int64_t{1} << 60;
  if (settings.hrd) {
    const HrdParams& hrd = *settings.hrd;
    const std::int64_t fullness = account_.get().fullness;
    const std::int64_t delay = std::max<std::int64_t>(account_.removal_delay(settings), 1);
    const std::int64_t whole = std::max(scaled(hrd.cpb_bits, kHrdClock, hrd.bit_rate), delay);
    result.messages =
        hrd_sei(hrd, static_cast<std::uint32_t>(delay), static_cast<std::uint32_t>(whole - delay),
                began_ ? 2u * (1u + static_cast<unsigned>(left_out_)) : 0u);
    limit = std::min(limit, fullness - buffer_reserve(hrd));
  }
  const std::int64_t before = 8 * (own.control.overhead.with(pending_overhead_).bytes() +
                                   static_cast<std::int64_t>(result.messages.size()));
  std::int64_t total = before + own.size;
  const std::int64_t least = 8 * static_cast<std::int64_t>(kMinFillerBytes);
  // Filler data have a least size.
  const bool fillable = !settings.exact || total == limit || total <= limit - least;
  if (total > limit || !fillable) {
    const std::int64_t most = settings.exact && total <= limit ? limit - least : limit;
    remember(own, true);
    if (own.qp_q8 < kMaxQpQ8) result.again = again(own, aim_below(std::max<std::int64_t>(most - before, 1)));
    if (result.again) return result;
    result.too_large = true;
    result.excess_bytes = (total - most + 7) / 8;
    finish(own, 0);
    return result;
  }
  if (settings.exact) result.filler_bytes = settings.limit_bytes - total / 8;
  if (settings.hrd && settings.hrd->cbr) {
    const std::int64_t overflow = account_.overflow(total, settings);
    if (overflow > 0) result.filler_bytes = std::max((overflow + 7) / 8, least / 8);
  }
  total += 8 * result.filler_bytes;
  if (settings.hrd) result.fullness = account_.get().fullness - total;
  finish(own, total);
  return result;
}

void RateController::settle_failed(std::uint64_t number) {
  ControlledPicture& own = at(number);
  account_.enter(own.control.settings);
  own.size = 0;
  finish(own, 0);
}

void RateController::settle_unplanned(const PictureControl& control) {
  pending_overhead_ = control.overhead.with(pending_overhead_);
}

void RateController::finish(ControlledPicture& own, std::int64_t bits) {
  if (bits == 0) own.size = 0;
  left_out_ = bits == 0 ? left_out_ + 1 : 0;
  began_ = began_ || bits > 0;
  pending_overhead_ = bits == 0 ? own.control.overhead.with(pending_overhead_) : Overhead{};
  Step& step = step_of(settled_);
  step.unspent = account_.spend(bits, own.control.settings, own.shares);
  own.after = account_.get();
  if (own.control.settings.gop != 1 && own.size > 0) {
    if (has_target(own.control.settings)) count_settled(own);
    learn_settled(own);
  }
  own.curve = {};
  ++settled_;
  for (; first_ + kFeedbackDistance + 1 < settled_; ++first_) pictures_.pop_front(), steps_.pop_front();
}

}  // namespace cu264::encoder
