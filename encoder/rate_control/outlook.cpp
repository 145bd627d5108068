#include "encoder/rate_control/outlook.h"

#include <algorithm>

#include "encoder/rate_control/fixed_log.h"

namespace cu264::encoder {
namespace {

constexpr int kStep = 8;  // of QP * 256
constexpr std::size_t kMaxRoomSteps = 640;
constexpr int kMaxEndStep = 3 * kQpOne;
// PSNR at a QP falls by about 2 dB with each doubling of a picture's bits: three steps of QP.
constexpr int kQpsOfOctave = 2;

// The lowest QP * 256 above `low`, as far as `high`, for which `holds`, if it holds for all above it.
template <class Holds>
int lowest(int low, int high, const Holds& holds) {
  while (high - low > kStep) {
    const int middle = (low + high) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

void Outlook::begin(const RateShares& shares, const RateAccount& account,
                    const std::vector<Unspent>& unspent) {
  shares_ = shares;
  account_ = account;
  account_at_end_ = account;
  pictures_.clear();
  unspent_ = unspent;
  past_ = unspent.size();
}

void Outlook::add(BitsCurve& curve, const PictureControl& control, const RateShares& shares,
                  std::int64_t factor, int shift) {
  const std::int64_t begin = pictures_.empty() ? shares_.start : pictures_.back().end;
  const RateShares::Spending spending = shares.spending();
  const std::int64_t target = account_at_end_.target_of(spending);
  account_at_end_.surplus -= target - spending.target;
  pictures_.push_back({&curve, factor, overhead_bits(control), control.qp, spending, target,
                       shares.planned_window, shares.planned_drift, begin + shares.span, shift});
}

// A second that ends with a picture to come has begun before the first of them, as long as it is not full.
void Outlook::find_rooms() {
  rooms_.clear();
  std::int64_t window = account_.window;
  std::size_t oldest = 0;
  const std::size_t known = pictures_.size();
  const std::int64_t last_span =
      pictures_.back().end - (known > 1 ? pictures_[known - 2].end : shares_.start);
  for (std::size_t k = 0; k < kMaxRoomSteps; ++k) {
    const std::int64_t end =
        k < known ? pictures_[k].end
                  : pictures_.back().end + static_cast<std::int64_t>(k + 1 - known) * last_span;
    if (end - shares_.start >= shares_.second) break;
    for (; oldest < past_ && end - unspent_[oldest].start > shares_.second; ++oldest)
      window -= unspent_[oldest].bits;
    rooms_.push_back({window, end - shares_.start});
  }
}

std::int64_t Outlook::bits(std::size_t picture, int qp_q8) const {
  __extension__ using Wide = __int128;
  const LookaheadPicture& own = pictures_[picture];
  return static_cast<std::int64_t>(Wide{own.curve->at(qp_of(own, qp_q8))} * own.factor >> 24) + own.overhead;
}

int Outlook::qp_of(const LookaheadPicture& picture, int qp_q8) const {
  if (picture.fixed_qp) return *picture.fixed_qp * kQpOne;
  const int spare = std::max(goal_ - qp_q8, 0);
  return std::clamp(qp_q8 + picture.shift + std::clamp(picture.offset, -spare, spare), 0, kMaxQpQ8);
}

void Outlook::set_goal(int goal) {
  goal_ = std::clamp(goal, 0, kMaxQpQ8);
  std::int64_t sum = 0;
  for (LookaheadPicture& picture : pictures_) {
    const int goal_of_picture = std::clamp(goal_ + picture.shift, 0, kMaxQpQ8);
    picture.offset = log2_q16(picture.curve->at(goal_of_picture)) / (kLogOne / kQpOne);
    sum += picture.offset;
  }
  const int mean = static_cast<int>(sum / static_cast<std::int64_t>(pictures_.size()));
  for (LookaheadPicture& picture : pictures_) picture.offset = kQpsOfOctave * (mean - picture.offset);
}

Outlook::Course Outlook::seconds(int qp_q8) const {
  const std::size_t known = std::min(rooms_.size(), pictures_.size());
  std::int64_t beside = 0;
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    std::int64_t all = beside;
    if (i < known) {
      all = beside += bits(i, qp_q8) - pictures_[i].target;
    } else {
      all = scaled(beside, rooms_[i].time, rooms_[known - 1].time);
    }
    const std::int64_t planned = pictures_[std::min(i, known - 1)].planned_window;
    if (all > rooms_[i].bits + planned) return Course::spends_too_much;
    if (all < rooms_[i].bits - planned) return Course::spends_too_little;
  }
  return Course::stays;
}

Outlook::Course Outlook::course(int qp_q8) {
  RateAccount account = account_;
  unspent_.resize(past_);
  std::size_t oldest = 0;
  std::int64_t start = shares_.start;
  for (std::size_t i = 0; i < pictures_.size(); ++i) {
    const LookaheadPicture& picture = pictures_[i];
    for (; oldest < unspent_.size() && picture.end - unspent_[oldest].start > shares_.second; ++oldest)
      account.window -= unspent_[oldest].bits;
    const std::int64_t target = account.target_of(picture.spending), middle = target + account.window;
    std::int64_t own =
        std::clamp(bits(i, qp_q8), middle - picture.planned_window, middle + picture.planned_window);
    own = std::max(own, account.least_without_filler(shares_));
    if (shares_.buffer > 0) own = std::min(own, account.fullness - shares_.buffer / 20);
    own = std::max<std::int64_t>(own, 1);
    account.spend(own, picture.spending);
    account.window += target - own;
    unspent_.push_back({target - own, start});
    start = picture.end;
    if (account.drift < -picture.planned_drift) return Course::spends_too_much;
    if (account.drift > picture.planned_drift) return Course::spends_too_little;
  }
  if (end_ && account.drift < -*end_) return Course::spends_too_much;
  if (end_ && account.drift > *end_) return Course::spends_too_little;
  return Course::stays;
}

int Outlook::qp_near(int goal, std::optional<std::int64_t> at_end) {
  set_goal(goal);
  find_rooms();
  const int richest =
      std::max(lowest(-kStep, kMaxQpQ8, [&](int qp) { return seconds(qp) != Course::spends_too_much; }), 0);
  const int poorest =
      lowest(richest, kMaxQpQ8 + kStep, [&](int qp) { return seconds(qp) == Course::spends_too_little; }) -
      kStep;
  const int highest = std::max(richest, poorest);
  const auto steered = [&](int qp) {
    const Course natural = course(qp);
    if (natural == Course::spends_too_much)
      qp = lowest(qp, kMaxQpQ8, [&](int q) { return course(q) != Course::spends_too_much; });
    if (natural == Course::spends_too_little)
      qp = lowest(0, qp, [&](int q) { return course(q) == Course::spends_too_little; });
    return std::clamp(qp, richest, highest);
  };
  end_.reset();
  const int qp = steered(std::clamp(goal, richest, highest));
  if (!at_end) return qp_of(pictures_.front(), qp);
  end_ = at_end;
  return qp_of(pictures_.front(), std::clamp(steered(qp), qp - kMaxEndStep, qp + kMaxEndStep));
}

}  // namespace cu264::encoder
