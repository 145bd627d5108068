// --target-size: finds the crf with which the whole file has a given size. Each pass codes the file with one
// crf; sizes fall as the crf rises, by about an eighth a step, and the next crf is interpolated between the
// nearest sizes above and below.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "cu264/status.h"

namespace cu264::app {

class SizeSearch {
 public:
  // A file is kept if it is at most 0.5 % smaller than the target.
  static constexpr double kTolerance = 0.005;
  static constexpr int kMostPasses = 6;

  // The first crf is estimated from `samples`, the luma samples of the whole video; 0 means not known.
  SizeSearch(std::int64_t target, double samples) : target_(target) {
    constexpr double kBitsOfSampleAt23 = 0.6;
    if (samples <= 0) return;
    const double bits = 8 * static_cast<double>(target) / samples;
    crf_ = clamped(2300 + std::log(kBitsOfSampleAt23 / bits) / -kUsualSlope);
  }

  // The crf that the next pass uses, in steps of 0.01.
  double crf() const { return crf_ / 100.0; }
  int passes() const { return passes_; }

  // Takes the size of the file that the pass has made, of which `fixed` bytes are no pictures. Returns true
  // if that file is to be kept. Throws Error(encode_failure) if no crf makes it small enough.
  bool take(std::int64_t bytes, std::int64_t fixed) {
    ++passes_;
    size_ = bytes;
    if (fixed >= target_) {
      throw Error(ErrorCode::encode_failure,
                  "audio and container alone take " + std::to_string(fixed) + " bytes",
                  "give a larger --target-size, or leave streams out");
    }
    const bool fits = bytes <= target_;
    const Point point{crf_, std::log(static_cast<double>(std::max<std::int64_t>(bytes - fixed, 1)))};
    if (fits && (missing() <= kTolerance || crf_ == 0 || falls_back_)) return true;
    if (!fits && (crf_ == kHighest || passes_ == kMostPasses)) {
      throw Error(ErrorCode::encode_failure,
                  "crf " + text(crf()) + " takes " + std::to_string(bytes) + " bytes, " +
                      std::to_string(bytes - target_) + " more than --target-size",
                  crf_ == kHighest ? "no crf takes fewer: make the pictures smaller" : "give another size");
    }
    if (fits && (!below_ || crf_ < below_->crf)) below_ = point;
    if (!fits && (!above_ || crf_ > above_->crf)) above_ = point;
    const bool exhausted = passes_ + 1 == kMostPasses || (below_ && above_ && below_->crf - above_->crf <= 1);
    if (below_ && exhausted) {
      falls_back_ = true;  // to the largest file that fits, which is this one or is coded again
      if (fits && crf_ == below_->crf) return true;
      crf_ = below_->crf;
    } else {
      crf_ = next(point,
                  std::log((1 - kTolerance / 2) * static_cast<double>(target_) - static_cast<double>(fixed)));
    }
    previous_ = point;
    return false;
  }

  // Returns the share of the target by which the last file is smaller.
  double missing() const { return 1 - static_cast<double>(size_) / static_cast<double>(target_); }

  // Returns a text such as "crf 21.37 found in 3 passes, 0.21 % below 5000000 bytes".
  std::string summary() const {
    return "crf " + text(crf()) + " found in " + std::to_string(passes_) +
           (passes_ == 1 ? " pass, " : " passes, ") + text(100 * missing()) + " % below " +
           std::to_string(target_) + " bytes";
  }

 private:
  struct Point {
    int crf;           // times 100
    double log_bytes;  // of the pictures
  };
  static constexpr int kHighest = 5100;
  // log_bytes falls by this much for each hundredth of a crf. It serves until two sizes are known.
  static constexpr double kUsualSlope = -0.0012;

  static int clamped(double crf) {
    return static_cast<int>(std::clamp(std::round(crf), 0.0, double{kHighest}));
  }

  static std::string text(double value) {
    const auto hundredths = static_cast<std::int64_t>(std::llround(100 * value));
    const std::string digits = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + (digits.size() == 1 ? ".0" : ".") + digits;
  }

  int next(const Point& point, double wanted) const {
    if (below_ && above_) {
      const double slope = (below_->log_bytes - above_->log_bytes) / (below_->crf - above_->crf);
      const double crf =
          slope < 0 ? above_->crf + (wanted - above_->log_bytes) / slope : (above_->crf + below_->crf) / 2.0;
      return std::clamp(clamped(crf), above_->crf + 1, below_->crf - 1);
    }
    double slope = kUsualSlope;
    if (previous_ && previous_->crf != point.crf)
      slope = std::clamp((point.log_bytes - previous_->log_bytes) / (point.crf - previous_->crf), -0.003,
                         -0.0005);
    const int crf = clamped(point.crf + (wanted - point.log_bytes) / slope);
    if (above_) return std::max(crf, std::min(point.crf + 1, kHighest));
    return std::min(crf, std::max(point.crf - 1, 0));
  }

  const std::int64_t target_;
  int crf_ = 2300;  // times 100
  int passes_ = 0;
  std::int64_t size_ = 0;
  bool falls_back_ = false;
  std::optional<Point> below_, above_;  // the nearest files that fit and that do not
  std::optional<Point> previous_;
};

}  // namespace cu264::app
