// Computes what the next pictures would take at one QP: the look-ahead of one decision of a RateController.
// It looks for a QP that all of them could have, so that quality changes no more and no earlier than the
// bounds require.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/rate_control/bits_curve.h"
#include "encoder/rate_control/rate_account.h"

namespace cu264::encoder {

// The bits of the target that one picture of a second did not spend, and when it began.
struct Unspent {
  std::int64_t bits = 0;
  std::int64_t start = 0;  // RateShares::start
};

class Outlook {
 public:
  // `unspent`: what RateAccount::window is the sum of, the newest last.
  void begin(const RateShares& shares, const RateAccount& account, const std::vector<Unspent>& unspent);
  // Pictures in order, the one that is to be planned first. `factor`: bits of slices for a bit of the curve,
  // in Q24. `shift`: how much its QP * 256 differs from that of the first one.
  void add(BitsCurve& curve, const PictureControl& control, const RateShares& shares, std::int64_t factor,
           int shift = 0);

  // The QP * 256 nearest to `goal` at which no second exceeds what is planned and the drift stays within its
  // bounds. `at_end`: the clip ends after the pictures that were added, and by then the drift should not be
  // larger than this.
  int qp_near(int goal, std::optional<std::int64_t> at_end);

 private:
  struct LookaheadPicture {
    BitsCurve* curve;
    std::int64_t factor, overhead;
    std::optional<int> fixed_qp;  // Frame::qp
    RateShares::Spending spending;
    std::int64_t target;  // with its part of the surplus
    std::int64_t planned_window, planned_drift;
    std::int64_t end;  // when the next one begins
    int shift;
    int offset = 0;  // of the QP * 256, where bits are to spare
  };
  enum class Course { stays, spends_too_much, spends_too_little };

  void set_goal(int goal);
  void find_rooms();
  // Where seconds must have more bits than the goal asks for, richer pictures, whose PSNR is lower, get more
  // of them; none gets less than the goal gives it.
  int qp_of(const LookaheadPicture& picture, int qp_q8) const;
  std::int64_t bits(std::size_t picture, int qp_q8) const;
  // Tells what would become of the seconds that have begun if the pictures had this QP: the first bound that
  // would be broken.
  Course seconds(int qp_q8) const;
  // Tells what would become of the drift if the pictures had this QP, as far as seconds and the buffer let
  // them.
  Course course(int qp_q8);

  RateShares shares_{RateSettings()};
  RateAccount account_;
  // [k]: bits that pictures 0..k may have beside the target's in the second that ends with picture k, and the
  // time from picture 0 to its end.
  struct Room {
    std::int64_t bits, time;
  };
  std::vector<Room> rooms_;
  std::vector<Unspent> unspent_;  // of the pictures of a second before, and then of those to come
  std::size_t past_ = 0;
  RateAccount account_at_end_;  // its surplus is that after the pictures that were added
  std::vector<LookaheadPicture> pictures_;
  std::optional<std::int64_t> end_;
  int goal_ = 0;
};

}  // namespace cu264::encoder
