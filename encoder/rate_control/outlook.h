// This computes what the next pictures would take at one QP: the look-ahead of one decision of a
// RateController. A QP is sought that all of them could have, so that quality changes neither more nor
// earlier than bounds ask.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/rate_control/bits_curve.h"
#include "encoder/rate_control/rate_account.h"

namespace cu264::encoder {

class Outlook {
 public:
  // `unspent`: what RateAccount::window is the sum of, the newest last.
  void begin(const RateShares& shares, const RateAccount& account, const std::vector<std::int64_t>& unspent);
  // Pictures in order, the one that is to be planned first. `factor`: bits of slices for a bit of the curve,
  // in Q24.
  void add(BitsCurve& curve, const PictureControl& control, std::int64_t factor);

  // The QP * 256 nearest to `goal` at which no second exceeds what is planned and the drift stays within its
  // bounds. `at_end`: behind the pictures that were added the clip ends, and the drift should not be larger
  // than this then.
  int qp_near(int goal, std::optional<std::int64_t> at_end);

 private:
  struct Picture {
    BitsCurve* curve;
    std::int64_t factor, overhead;
    std::optional<int> fixed_qp;  // Frame::qp
    int offset = 0;               // of the QP * 256, where bits are to spare
  };
  enum class Course { stays, spends_too_much, spends_too_little };

  void set_goal(int goal);
  // Where seconds must have more bits than the goal asks for, richer pictures get more of them, whose PSNR is
  // lower; none has less than the goal gives it.
  int qp_of(const Picture& picture, int qp_q8) const;
  std::int64_t bits(std::size_t picture, int qp_q8) const;
  // Tells what becomes of the seconds that have begun if the pictures had this QP: the first bound that is
  // broken.
  Course seconds(int qp_q8) const;
  // Tells what becomes of the drift if the pictures had this QP, as far as seconds and the buffer let them.
  Course course(int qp_q8);

  RateShares shares_{RateSettings()};
  RateAccount account_;
  std::vector<std::int64_t> rooms_;    // [k]: bits that pictures 0..k may have beside the target's in the
                                       // second that ends with picture k
  std::vector<std::int64_t> unspent_;  // of the pictures of a second before, and then of those to come
  std::size_t past_ = 0;
  std::vector<Picture> pictures_;
  std::optional<std::int64_t> end_;
  int goal_ = 0;
};

}  // namespace cu264::encoder
