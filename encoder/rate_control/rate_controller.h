// Decides the QP of the pictures of one stream. It knows neither frames nor backends nor threads: it is told
// what a picture would take at each QP and how large it became, and its answers depend on nothing else.
//
// A picture is planned, coded, reviewed, perhaps coded again, and settled. The answers must not depend on how
// many pictures are in flight, so each step uses only sizes that are always known by then. A plan uses the
// true sizes of pictures at least kFeedbackDistance earlier, the first sizes of those at least
// kReviewDistance earlier, and predictions for later ones. A review uses the first sizes of all earlier
// pictures. Settling uses the true sizes of all earlier pictures. Each of the three is called in the order of
// the pictures.
//
// Where there are P pictures, each is coded after the one before it has settled. There every step uses the
// true sizes of all earlier pictures.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "encoder/rate_control/bits_curve.h"
#include "encoder/rate_control/outlook.h"
#include "encoder/rate_control/rate_account.h"
#include "encoder/rate_control/rate_settings.h"
#include "encoder/rate_control/typical_sizes.h"

namespace cu264::encoder {

// At most this many pictures of a stream are planned and not settled.
inline constexpr int kFeedbackDistance = 640;
// At most this many pictures are planned and not reviewed.
inline constexpr int kReviewDistance = kFeedbackDistance / 2;

// QP is `qp`, and higher by one in the last `raised_rows` macroblock rows.
struct PictureQp {
  int qp = 0;
  int raised_rows = 0;
};

class RateController {
 public:
  RateController(int mb_width, int mb_height)
      : mb_height_(mb_height),
        macroblocks_(std::int64_t{mb_width} * mb_height),
        typical_sizes_(typical_sizes(macroblocks_)) {}

  // Returns whether the next picture can be planned now: the pictures it depends on are settled.
  bool can_plan(const PictureControl& control) const;
  // Returns whether the first picture is planned, and no other can be before that one is settled.
  bool waits_for_first() const;

  // Returns the number of the picture that is planned next. Pictures count from 0.
  std::uint64_t next_number() const { return first_ + pictures_.size(); }
  // Announces a picture that will be planned after those announced so far. `crf_qp_q8` is the QP * 256 that
  // RateSettings::crf_q8 stands for in this picture; it is read only if a crf is set.
  void announce(BitsCurve curve, const PictureControl& control, int crf_qp_q8 = 0);
  // Replaces the first of the announced pictures, which becomes a key picture.
  void replace_next(BitsCurve curve, const PictureControl& control);
  // Says that no further picture of the clip will be announced.
  void end() { ended_ = true; }
  // Plans the first of the announced pictures. RateSettings::lookahead further ones are read; fewer are
  // announced only if the clip ends, or if its packets are waited for.
  PictureQp plan();

  // Says how many bytes the slices of picture `number` have. Returns another QP if the picture is to be coded
  // again.
  std::optional<PictureQp> review(std::uint64_t number, std::int64_t slice_bytes);
  // The same for a picture that was coded again. Calls for several pictures may come in any order.
  std::optional<PictureQp> review_again(std::uint64_t number, std::int64_t slice_bytes);

  struct Settlement {
    std::optional<PictureQp> again;      // the picture must be coded again before it can be settled
    bool too_large = false;              // no QP makes it small enough: it is left out
    std::int64_t excess_bytes = 0;       // then by how much it is too large
    std::vector<std::uint8_t> messages;  // of the HRD, which come before other SEI messages
    std::int64_t filler_bytes = 0;       // 0, or at least kMinFillerBytes
    double mean_qp = 0;
    std::int64_t fullness = -1;  // bits left in the buffer after the picture; -1: there is no buffer
  };
  Settlement settle(std::uint64_t number);

  // Says that the picture could not be coded; it is settled as one that was left out. For pictures in order,
  // instead of settle(). If it has not been reviewed, review it with 0 bytes first.
  void settle_failed(std::uint64_t number);
  // The same for a picture that could not be planned, and has no number.
  void settle_unplanned(const PictureControl& control);

 private:
  struct ControlledPicture {
    ControlledPicture(BitsCurve c, const PictureControl& p, const RateShares& s)
        : curve(std::move(c)), control(p), shares(s) {}

    BitsCurve curve;
    PictureControl control;
    RateShares shares;
    int wanted_q8 = 0;           // what quality or the target ask for; a limit may need more
    int qp_q8 = 0;               // of the last coding, on the scale of P pictures (gop_model.h)
    std::int64_t predicted = 0;  // bits of the slices at that QP, without correction
    std::int64_t size = 0;       // bits of the slices after the last coding
    // The highest QP that was too low for a limit and the lowest one that was not, with the sizes there.
    int too_low_q8 = -1, fits_q8 = -1;
    std::int64_t too_low_size = 0, fits_size = 0;
    int codings = 1;
    bool counted = false;  // in the mean curves
    // How many pictures of the clip follow this one, and how long they last, if that was known.
    std::optional<int> to_come;
    std::int64_t time_to_come = 0;
    RateAccount after;  // once the picture is settled
  };

  struct AnnouncedPicture {
    BitsCurve curve;
    PictureControl control;
    RateShares shares;
    int crf_qp_q8;
    bool counted = false;  // in the mean curves
  };

  // The part of a picture that account_before() reads, which it does for hundreds at a time.
  struct Step {
    RateShares::Spending spending;
    std::int64_t start = 0;     // RateShares::start
    std::int64_t overhead = 0;  // bits
    std::int64_t planned = 0;   // bits of the slices at the first QP, without correction
    std::int64_t reviewed = 0;  // bits of the access unit, as the review expects them
    std::int64_t unspent = 0;   // bits of its target, once it is settled
    std::int64_t nominal_target = 0;
    std::int64_t first = 0;  // bits of the slices at the first QP
  };

  Step& step_of(std::uint64_t number) { return steps_[static_cast<std::size_t>(number - first_)]; }
  ControlledPicture& at(std::uint64_t number) { return pictures_[static_cast<std::size_t>(number - first_)]; }

  struct Correction {
    // Sums over pictures that fade: the bits of slices, and what the curves had said.
    std::int64_t actual = 1, predicted = 1;

    // Learns from a picture's slices: their bits, what its curve had said, and its share of the rate. It
    // counts as `weight` pictures, and `memory` pictures are remembered.
    void learn(std::int64_t bits, std::int64_t said, std::int64_t share, int weight, int memory);
    // Bits of slices that the curve's bits stand for, and the reverse.
    std::int64_t corrected(std::int64_t bits) const { return scaled(bits, actual, predicted); }
    std::int64_t uncorrected(std::int64_t bits) const { return scaled(bits, predicted, actual); }
  };
  // Key pictures and P pictures each have their own.
  Correction& correction_of(const PictureControl& control) { return corrections_[control.key ? 0 : 1]; }
  void learn_before(std::uint64_t number, const PictureControl& control);
  void learn_settled(const ControlledPicture& own);

  // The same where all earlier pictures are settled.
  RateAccount settled_account(std::uint64_t number);
  // The account before picture `number`: what was true kFeedbackDistance earlier, and what reviews and plans
  // expect of the pictures since.
  RateAccount account_before(std::uint64_t number, bool reviewing);
  // Finds RateAccount::above and below.
  void find_room(const RateShares& shares, RateAccount& account) const;
  int target_qp(ControlledPicture& own, const RateAccount& account);
  // The same where there are P pictures: which QP the content asks for.
  int gop_qp(ControlledPicture& own, const RateAccount& account, int pull);
  void assume_gops(const ControlledPicture& own);
  // Keeps the QP that a target asks for within the bounds of the account.
  int within_bounds(ControlledPicture& own, const RateAccount& account, int qp);
  static std::int64_t drift_at_end(const ControlledPicture& own, std::uint64_t number);
  // Returns the shares of the next picture that is announced.
  RateShares next_shares(const PictureControl& control);
  // `shift_of`: by how much a picture of other shares has another QP * 256, because of its duration.
  int lookahead_qp(ControlledPicture& own, const RateAccount& account, int goal,
                   const std::function<int(const RateShares&)>& shift_of);
  // Takes what the picture pays back for the key picture before from its target.
  void share_loan(ControlledPicture& own);
  // Adds a picture to the mean of all, with its true size.
  void count_settled(ControlledPicture& own);
  // Says what a picture and those after it, which end the clip, will leave over, and which can use it.
  void see_end(ControlledPicture& own);
  // Adds a picture's curve to a mean. It is corrected by `actual` / `predicted`.
  static void add_to(SizeCurve& mean, std::int64_t pictures, BitsCurve& curve, std::int64_t overhead,
                     const Correction& correction);
  std::optional<std::int64_t> review_target(ControlledPicture& own, const RateAccount& account) const;
  std::optional<std::int64_t> kept_target(ControlledPicture& own, const RateAccount& account) const;
  // The part of what the buffer holds that a plan leaves to the next pictures.
  static std::int64_t left_in_buffer(const ControlledPicture& own, std::int64_t fullness);
  // The QP of the last coding was too low for a limit, or not.
  static void remember(ControlledPicture& own, bool too_low);
  // Plans another coding in which the slices have `bits`, as far as the picture's own size allows a
  // prediction.
  std::optional<PictureQp> again(ControlledPicture& own, std::int64_t bits);
  PictureQp set_qp(ControlledPicture& own, int qp_q8);
  void finish(ControlledPicture& own, std::int64_t bits);

  const int mb_height_;
  const std::int64_t macroblocks_;
  std::uint64_t first_ = 0;  // of pictures_
  std::uint64_t reviewed_ = 0;
  std::uint64_t settled_ = 0;
  std::deque<AnnouncedPicture> announced_;
  std::int64_t clock_ = 0;                // when the next announced picture begins
  std::deque<std::int64_t> late_starts_;  // of the pictures in the mean of the latest shares
  bool ended_ = false;
  Outlook outlook_;
  std::deque<ControlledPicture>
      pictures_;            // those that are not settled, and as many before as a plan looks back
  std::deque<Step> steps_;  // of the same pictures
  std::uint64_t learned_ = 0;
  Correction corrections_[2];  // of key pictures and P pictures
  // Mean curves, corrected, of all pictures that have a target and of the last ones, at QP 0, 3 .. 51. Where
  // such a curve reaches the target is the QP at which these pictures together would have met it.
  SizeCurve typical_sizes_, late_sizes_{};
  std::int64_t targeted_ = 0;     // pictures
  std::int64_t late_ = 0;         // the same of P pictures
  std::int64_t late_target_ = 0;  // of the last P picture
  bool assumed_gops_ = false;     // typical_sizes_ are those of pictures in GOPs
  std::vector<Unspent> unspent_;  // of account_before(): of each picture of a window
  ExactAccount account_;          // of the settled pictures
  int left_out_ = 0;              // pictures since the last one that was not left out
  bool began_ = false;            // a picture was not left out
  Overhead pending_overhead_;     // of pictures that were left out; it comes with the next one
};

}  // namespace cu264::encoder
