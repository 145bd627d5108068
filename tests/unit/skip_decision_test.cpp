// What a macroblock is offered as P_Skip, and what that costs.

#include "core/skip_decision.h"

#include <gtest/gtest.h>

#include <array>

namespace {

using namespace cu264::core;

constexpr MotionVector kRight{4, 0}, kDown{0, 8};

// Macroblock 4 of a picture of three by three, in whose neighbours all blocks have the same vector.
struct Middle {
  std::array<MacroblockRecord, 9> mbs;
  std::array<MotionRecord, 9> motion;
  MotionPlace place = motion_place(1, true, 3);

  explicit Middle(MotionVector around) {
    for (MacroblockRecord& mb : mbs) mb.kind = MacroblockKind::p16x16;
    for (MotionRecord& record : motion) {
      for (MotionVector& v : record.vector) v = around;
    }
  }
  void set(MacroblockKind kind, std::array<MotionVector, 4> vectors) {
    mbs[4].kind = kind;
    for (int block = 0; block < 4; ++block)
      motion[4].vector[block] = vectors[static_cast<std::size_t>(block)];
  }
  CodedMotion field() const { return {mbs.data() + 4, motion.data() + 4}; }
  SkipOffer offer() const {
    return offer_skip(place, mbs[4].kind, mbs[4].coded_block_pattern, motion[4].vector[0], field());
  }
  int header_bits() const { return inter_header_bits(place, mbs[4].kind, motion[4].vector, field()); }
};

TEST(SkipDecision, MacroblockWithThatVectorAndNoLevelsIsTakenAlready) {
  Middle picture(kRight);
  EXPECT_TRUE(picture.offer().taken);
  picture.mbs[4].coded_block_pattern = 1;
  EXPECT_FALSE(picture.offer().taken);
  picture.mbs[4].coded_block_pattern = 0;
  picture.set(MacroblockKind::p16x8, {kRight, kRight, kRight, kRight});
  EXPECT_FALSE(picture.offer().taken);
}

TEST(SkipDecision, VectorIsThatWhichADecoderDerives) {
  Middle picture(kRight);
  picture.set(MacroblockKind::p16x16, {kDown, kDown, kDown, kDown});
  EXPECT_EQ(picture.offer().vector, kRight);
  for (MotionVector& v : picture.motion[3].vector) v = {};  // a neighbour that does not move
  EXPECT_EQ(picture.offer().vector, MotionVector{});
  picture.place = motion_place(0, true, 3);  // no left neighbour
  EXPECT_EQ(picture.offer().vector, MotionVector{});
}

TEST(SkipDecision, HeaderHasMbTypeAndTheMvdOfAllPartitions) {
  Middle picture(kRight);
  EXPECT_EQ(picture.header_bits(), 1 + 2);
  picture.set(MacroblockKind::p16x16, {kDown, kDown, kDown, kDown});
  EXPECT_EQ(picture.header_bits(), 1 + se_length(-4) + se_length(8));
  // The lower half is predicted from the left neighbour, the upper one from that above.
  picture.set(MacroblockKind::p16x8, {kRight, kRight, kDown, kDown});
  EXPECT_EQ(picture.header_bits(), 3 + 2 + se_length(-4) + se_length(8));
  picture.set(MacroblockKind::p8x8, {kRight, kRight, kRight, kRight});
  EXPECT_EQ(picture.header_bits(), 9 + 4 * 2);
}

TEST(SkipDecision, LikelyIMacroblocksAreExpectedWhereSatdDecides) {
  EXPECT_TRUE(will_be_intra(MacroblockKind::p16x16, true, false));
  EXPECT_FALSE(will_be_intra(MacroblockKind::p16x16, false, false));
  EXPECT_FALSE(will_be_intra(MacroblockKind::p16x16, true, true));
  EXPECT_TRUE(will_be_intra(MacroblockKind::pcm, false, true));
}

TEST(SkipDecision, CostGrowsByTheHeaderThatIsNeededNow) {
  constexpr int kLambda = 50;
  EXPECT_EQ(with_header(1000, 3, 3, kLambda), 1000);
  EXPECT_EQ(with_header(1000, 1, 9, kLambda), 1000 + 8 * kLambda);
  EXPECT_EQ(with_header(1000, 9, 1, kLambda), 1000 - 8 * kLambda);
}

TEST(SkipDecision, SkipCostsItsErrorsAndABit) {
  constexpr int kLambda = 50, kWeight = 20;
  EXPECT_EQ(skip_rd_cost(0, 0, kLambda, kWeight), kLambda);
  EXPECT_EQ(skip_rd_cost(7, 3, kLambda, kWeight), (std::int64_t{7} << kRdCostShift) + 3 * kWeight + kLambda);
}

}  // namespace
