#include "app/size_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cu264/status.h"

namespace cu264::app {
namespace {

constexpr int kMaxCrf = 5100;  // crf, times 100
// How much the logarithm of a picture's bytes falls for each hundredth of a crf: usually, at least and at
// most.
constexpr double kDefaultSlope = 0.0012, kMinSlope = 0.0005, kMaxSlope = 0.003;
// How far below the target the file should end, as a share of the target. With few pictures the last one
// matters more, so they aim at the middle of the allowed range.
double aim_below(std::size_t pictures) {
  return pictures < 64 ? SizePlan::kTolerance / 2 : 0.002;
}
// The measuring pass changes its crf by at most this much at once, and waits after at most this many
// pictures.
constexpr int kMaxStep = 600;
constexpr int kAlternation = 150;       // by which the crf of neighbours is above and below
constexpr std::size_t kNeighbours = 8;  // on each side, that tell how fast sizes fall
constexpr std::int64_t kMaxMeasureDistance = 2048;
// A file of fewer pictures has one crf, because there is nothing to correct by.
constexpr std::size_t kFewPictures = 4;

// The bytes that a preset usually takes, as a share of those of `fast` at the same crf.
double share_of_fast(Preset preset) {
  return preset == Preset::fast ? 1 : preset == Preset::balanced ? 0.98 : 0.95;
}

int clamped(double crf) {
  return static_cast<int>(std::clamp(std::round(crf), 0.0, double{kMaxCrf}));
}

std::string text(double value) {
  const auto hundredths = static_cast<std::int64_t>(std::llround(100 * value));
  const std::string digits = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (digits.size() == 1 ? ".0" : ".") + digits;
}

double log_of(std::int64_t bytes) {
  return std::log(static_cast<double>(std::max<std::int64_t>(bytes, 1)));
}

}  // namespace

SizePlan::SizePlan(std::int64_t target, Preset preset, double samples, std::int64_t pictures)
    : target_(target), preset_(preset), announced_(pictures) {
  constexpr double kBitsOfSampleAt23 = 0.6;
  if (samples <= 0 || pictures <= 0) return;
  const double bits = 8 * static_cast<double>(target) / (samples * static_cast<double>(pictures));
  crf_ = clamped(2300 + std::log(kBitsOfSampleAt23 / bits) / kDefaultSlope);
}

int SizePlan::crf_of(std::size_t number) const {
  if (repeats_best_) return best_[std::min(number, best_.size() - 1)].crf;
  return measures() ? clamped(crf_ + (number % 2 == 0 ? kAlternation : -kAlternation)) : crf_;
}

bool SizePlan::waits_before(std::int64_t number) const {
  if (repeats_best_) return false;
  if (measures()) {
    const auto distance = static_cast<std::uint64_t>(number) + 2;  // 2, 6, 14, 30 .. pictures
    return number > 0 && announced_ > 0 &&
           (std::has_single_bit(distance) || distance % kMaxMeasureDistance == 0);
  }
  return std::binary_search(places_.begin(), places_.end(), static_cast<std::size_t>(number));
}

void SizePlan::coded(std::int64_t bytes) {
  // correct() is called when the sizes of all previous pictures are known, so this is the crf that the
  // picture has.
  now_.push_back({crf_of(now_.size()), bytes});
  coded_bytes_ += bytes;
}

double SizePlan::aim() const {
  return (1 - aim_below(measured_.size())) * static_cast<double>(target_) - static_cast<double>(beside_);
}

void SizePlan::finish_measure() {
  measured_ = now_;
  const std::size_t pictures = measured_.size();
  std::vector<double> steps(pictures, kDefaultSlope);  // between a picture and the next one
  for (std::size_t n = 0; n + 1 < pictures; ++n) {
    const Coded &one = measured_[n], &next = measured_[n + 1];
    if (one.crf != next.crf && one.bytes > 0 && next.bytes > 0)
      steps[n] = (log_of(one.bytes) - log_of(next.bytes)) / (next.crf - one.crf);
  }
  slopes_.resize(pictures);
  for (std::size_t n = 0; n < pictures; ++n) {
    // The median ignores cuts. Slowly changing pictures lie above and below the slope in turn.
    const std::size_t first = n > kNeighbours ? n - kNeighbours : 0,
                      last = std::min(std::max(n + kNeighbours, std::size_t{1}), pictures - 1);
    std::vector<double> around(steps.begin() + static_cast<std::ptrdiff_t>(first),
                               steps.begin() + static_cast<std::ptrdiff_t>(std::max(last, first + 1)));
    const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
    std::nth_element(around.begin(), middle, around.end());
    slopes_[n] = static_cast<float>(std::clamp(*middle, kMinSlope, kMaxSlope));
  }
}

// Where earlier passes have sizes on both sides of the crf, interpolates between them; otherwise extrapolates
// from the nearest.
double SizePlan::expected_log(std::size_t picture, int crf) const {
  const Coded *above = nullptr, *below = nullptr;
  for (const Pass& pass : before_) {
    if (picture >= pass.size()) continue;
    const Coded& one = pass[picture];
    if (one.crf <= crf && (above == nullptr || one.crf >= above->crf)) above = &one;
    if (one.crf >= crf && (below == nullptr || one.crf <= below->crf)) below = &one;
  }
  if (above != nullptr && below != nullptr && above->crf < below->crf) {
    const double share = static_cast<double>(crf - above->crf) / (below->crf - above->crf);
    return log_of(above->bytes) * (1 - share) + log_of(below->bytes) * share;
  }
  double log = 0;
  const Coded* nearest = above != nullptr ? above : below;
  if (nearest == nullptr) {
    nearest = &measured_[std::min(picture, measured_.size() - 1)];
    log = std::log(share_of_fast(preset_));
  }
  return log + log_of(nearest->bytes) + slopes_[std::min(picture, slopes_.size() - 1)] * (nearest->crf - crf);
}

double SizePlan::expected_bytes(std::size_t first, int crf) const {
  double bytes = 0;
  for (std::size_t n = first; n < measured_.size(); ++n) bytes += std::exp(expected_log(n, crf));
  return bytes;
}

int SizePlan::crf_for(std::size_t first, double bytes, double error) const {
  int above = -1, below = kMaxCrf;
  while (below - above > 1) {
    const int middle = (above + below) / 2;
    (expected_bytes(first, middle) * std::exp(error) <= bytes ? below : above) = middle;
  }
  return below;
}

int SizePlan::distance_to_known(std::size_t picture, int crf) const {
  int distance = kMaxCrf;
  for (const Pass& pass : before_) {
    if (picture < pass.size()) distance = std::min(distance, std::abs(pass[picture].crf - crf));
  }
  return before_.empty() ? std::abs(measured_[picture].crf - crf) : distance;
}

// The logarithm of the ratio between the bytes that the second half of this pass took so far and those
// expected. It is reduced if the sizes of the remaining pictures are known at a closer crf, because these
// will miss by less.
double SizePlan::error_of_pass() const {
  constexpr double kOfAnyDistance = 200;
  double expected = 0, bytes = 0, distance = 0, next_distance = 0;
  const std::size_t known = measured_.size(), first = now_.size() / 2, end = std::min(now_.size(), known);
  for (std::size_t n = first; n < end; ++n) {
    expected += std::exp(expected_log(n, now_[n].crf));
    bytes += static_cast<double>(now_[n].bytes);
    distance += distance_to_known(n, now_[n].crf);
  }
  if (expected <= 0 || bytes <= 0 || end == known) return 0;
  for (std::size_t n = end; n < known; ++n) next_distance += distance_to_known(n, crf_);
  distance /= static_cast<double>(end - first), next_distance /= static_cast<double>(known - end);
  return std::log(bytes / expected) *
         std::min((kOfAnyDistance + next_distance) / (kOfAnyDistance + distance), 1.0);
}

// The crf at which a file of the announced number of pictures would have the target size, if the other
// pictures, and the bytes that are not pictures, are like those measured.
int SizePlan::measured_crf(std::int64_t beside) const {
  double bytes = 1;  // at crf_
  for (const Coded& one : now_)
    bytes += static_cast<double>(one.bytes) * std::exp(kDefaultSlope * (one.crf - crf_));
  const double files = static_cast<double>(announced_) / static_cast<double>(now_.size());
  const double wanted = std::max(static_cast<double>(target_) - static_cast<double>(beside) * files,
                                 static_cast<double>(target_) / 20);
  const double step = std::log(bytes * share_of_fast(preset_) * files / wanted) / kDefaultSlope;
  return crf_ + static_cast<int>(std::lround(std::clamp<double>(step, -kMaxStep, kMaxStep)));
}

void SizePlan::correct(std::int64_t beside) {
  const std::size_t first = now_.size();
  if (measures()) {
    crf_ = clamped(measured_crf(beside));
  } else {
    const double left = aim() - static_cast<double>(coded_bytes_);
    crf_ = crf_for(first, left, error_of_pass());
    if (2 * first <= measured_.size()) {
      centre_ = crf_;
    } else {
      constexpr int kMaxDistance = static_cast<int>(100 * kMaxCorrection);
      crf_ = std::clamp(crf_, std::max(centre_ - kMaxDistance, 0), std::min(centre_ + kMaxDistance, kMaxCrf));
    }
  }
}

// The second pass and all later ones begin with the crf at which the whole file would have its size.
void SizePlan::begin_pass() {
  const std::size_t pictures = measured_.size();
  crf_ = crf_for(0, aim(), 0);
  places_.clear();
  if (pictures >= kFewPictures) {
    for (const int part : {4, 16, 32, 48, 56, 60, 62, 63}) {
      const std::size_t place = pictures * static_cast<std::size_t>(part) / 64;
      if (place > 1 && (places_.empty() || places_.back() < place)) places_.push_back(place);
    }
  } else {
    if (too_low_) crf_ = std::clamp(crf_, std::min(*too_low_ + 1, kMaxCrf), fits_.value_or(kMaxCrf + 1) - 1);
    if (!too_low_ && fits_) crf_ = std::min(crf_, std::max(*fits_ - 1, 0));
  }
  centre_ = crf_;
}

bool SizePlan::all_have(int crf) const {
  return std::all_of(now_.begin(), now_.end(), [=](const Coded& one) { return one.crf == crf; });
}

bool SizePlan::take(std::int64_t bytes) {
  const bool measured = measures();
  ++passes_;
  size_ = bytes;
  beside_ = bytes - coded_bytes_;
  if (beside_ >= target_) {
    throw Error(ErrorCode::encode_failure,
                "audio and container alone take " + std::to_string(beside_) + " bytes",
                "give a larger --target-size, or leave streams out");
  }
  if (!measured) {
    const bool fits = bytes <= target_;
    if (fits && (missing() <= kTolerance || repeats_best_ || all_have(0))) return true;
    if (!fits && (all_have(kMaxCrf) || passes_ == kMaxPasses)) {
      throw Error(ErrorCode::encode_failure,
                  "crf " + text(crf_ / 100.0) + " takes " + std::to_string(bytes) + " bytes, " +
                      std::to_string(bytes - target_) + " more than --target-size",
                  all_have(kMaxCrf) ? "no crf takes fewer: make the pictures smaller" : "give another size");
    }
    if (fits && bytes > best_size_) best_ = now_, best_size_ = bytes;
    if (fits) fits_ = std::min(fits_.value_or(kMaxCrf), crf_);
    if (!fits) too_low_ = std::max(too_low_.value_or(0), crf_);
    const bool between = now_.size() < kFewPictures && too_low_ && fits_ && *fits_ - *too_low_ <= 1;
    repeats_best_ = best_size_ > 0 && (passes_ + 1 >= kMaxPasses || between);
    if (repeats_best_ && fits && bytes == best_size_) return true;
  }
  if (measured) {
    finish_measure();
  } else {
    before_.push_back(now_);
  }
  now_.clear();
  coded_bytes_ = 0;
  begin_pass();
  return false;
}

std::string SizePlan::summary() const {
  double sum = 0;
  for (const Coded& one : now_) sum += one.crf;
  return "crf " + text(sum / (100 * static_cast<double>(std::max<std::size_t>(now_.size(), 1)))) +
         " found in " + std::to_string(passes_) + " passes, " + text(100 * missing()) + " % below " +
         std::to_string(target_) + " bytes";
}

std::string SizePlan::pass_text() const {
  const Pass& pass = !now_.empty() ? now_ : before_.empty() ? measured_ : before_.back();
  const auto range = [](Pass::const_iterator first, Pass::const_iterator end) {
    const auto [lowest, highest] =
        std::minmax_element(first, end, [](const Coded& a, const Coded& b) { return a.crf < b.crf; });
    return text(lowest->crf / 100.0) + " to " + text(highest->crf / 100.0);
  };
  const auto half = pass.begin() + static_cast<std::ptrdiff_t>(pass.size() / 2);
  return "crf " + range(pass.begin(), pass.end()) + ", in the second half " + range(half, pass.end()) +
         ", takes " + std::to_string(size_) + " bytes";
}

}  // namespace cu264::app
