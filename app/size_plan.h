// --target-size: plans the crf of each picture so that the whole file has a given size.
//
// The first pass measures. It codes with the preset `fast`, and at growing distances it waits for the sizes
// of all pictures before and chooses the crf that the file seems to need. Neighbours have a crf above and
// below it in turn, which tells how fast sizes fall there. The second pass codes the whole file with one crf,
// which follows from the sizes of the first. At a few places, which lie closer together towards the end, it
// waits again and corrects the crf by its own sizes. The corrections become smaller from place to place. Both
// depend only on the numbers and sizes of pictures, so the file does not depend on threads, batches or
// devices. The crf is planned with log and exp, so another C library may give another file. If the second
// pass misses the target, further passes use its sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cu264/encoder.h"

namespace cu264::app {

class SizePlan {
 public:
  // A file is kept if it is at most 0.5 % smaller than the target.
  static constexpr double kTolerance = 0.005;
  static constexpr int kMaxPasses = 6;
  // How far the crf of a picture in the second half may be from that at its beginning.
  static constexpr double kMaxCorrection = 1.5;

  // `samples`: luma samples of a picture. `pictures`: how many are expected; 0: not known.
  SizePlan(std::int64_t target, Preset preset, double samples, std::int64_t pictures);

  // The pass that comes next, or is under way, only measures.
  bool measures() const { return passes_ == 0; }
  // The crf of a picture, in steps of 0.01.
  double crf(std::int64_t number) const { return crf_of(static_cast<std::size_t>(number)) / 100.0; }
  // Returns true if correct() must be called before this picture is planned, once the sizes of all previous
  // pictures are known. `beside`: bytes of the file so far that are not pictures.
  bool waits_before(std::int64_t number) const;
  void correct(std::int64_t beside);
  // Says how many bytes the next picture took; 0 if it was left out.
  void coded(std::int64_t bytes);

  // Ends the pass, which has made a file of `bytes`. Returns true if that file is to be kept. Throws
  // Error(encode_failure) if no crf makes it small enough.
  bool take(std::int64_t bytes);

  int passes() const { return passes_; }
  // Returns the share of the target by which the last file is smaller.
  double missing() const { return 1 - static_cast<double>(size_) / static_cast<double>(target_); }
  // Returns a text such as "crf 21.37 found in 2 passes, 0.21 % below 5000000 bytes".
  std::string summary() const;
  // Returns a text such as "crf 21.31 to 21.42, in the second half 21.38 to 21.40, takes 4989500 bytes", of
  // the last pass.
  std::string pass_text() const;

 private:
  struct Coded {
    int crf = 0;  // times 100
    std::int64_t bytes = 0;
  };
  using Pass = std::vector<Coded>;  // by the number of the picture

  int crf_of(std::size_t number) const;
  // The bytes that all pictures are to have.
  double aim() const;
  // Takes over the measuring pass, and derives from it how much a hundredth of a crf changes around each
  // picture.
  void finish_measure();
  // The logarithm of the bytes that earlier passes lead one to expect for a picture.
  double expected_log(std::size_t picture, int crf) const;
  // Bytes of the pictures from `first` on, if all of them have this crf.
  double expected_bytes(std::size_t first, int crf) const;
  // The lowest crf with which the pictures from `first` on take at most `bytes`, if each takes exp(error)
  // times its expected size.
  int crf_for(std::size_t first, double bytes, double error) const;
  // How far the crf is from the nearest one with which the picture's size is known.
  int distance_to_known(std::size_t picture, int crf) const;
  double error_of_pass() const;
  int measured_crf(std::int64_t beside) const;
  void begin_pass();
  bool all_have(int crf) const;

  const std::int64_t target_;
  const Preset preset_;
  const std::int64_t announced_;  // pictures; 0: not known
  int crf_ = 2300;                // times 100
  int passes_ = 0;
  std::int64_t size_ = 0;            // of the last file
  std::int64_t beside_ = 0;          // bytes of the last file that are not pictures
  std::int64_t coded_bytes_ = 0;     // of this pass so far
  int centre_ = 0;                   // the crf that corrections stay close to
  std::vector<std::size_t> places_;  // where this pass waits
  Pass now_, measured_;
  std::vector<float> slopes_;  // by the number of the picture
  std::vector<Pass> before_;   // those that used the preset
  // The largest file that fits: its crf by picture, and its size. If nothing better is found it is made
  // again.
  Pass best_;
  std::int64_t best_size_ = 0;
  bool repeats_best_ = false;
  // With a crf for the whole file: the highest that did not fit and the lowest that did.
  std::optional<int> too_low_, fits_;
};

}  // namespace cu264::app
