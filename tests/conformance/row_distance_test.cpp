// A row of macroblocks may follow the row above at a distance of one macroblock: nothing that is coded
// depends on the macroblock above and to the right.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/intra_pred.h"
#include "support/picture.h"
#include "tests/conformance/stream_check.h"

namespace cu264::test {
namespace {

class RowDistance : public ::testing::TestWithParam<Preset> {};

TEST_P(RowDistance, BlockFiveReadsNothingAboveAndToTheRight) {
  constexpr int kMbWidth = 12, kMbHeight = 9;
  const std::vector<Picture> pictures = {make_picture(Content::natural, 16 * kMbWidth, 16 * kMbHeight)};
  for (const int slices : {1, 3}) {
    const EncodedStream stream = encode(make_config(20, GetParam(), slices), pictures);
    std::vector<int> slice_of;
    int there = 0, elsewhere = 0;
    walk_stream(stream.bytes(), [&](const WalkedMacroblock& mb) {
      slice_of.push_back(mb.slice);
      if (mb.kind != core::MacroblockKind::intra4x4) return;
      const bool above_right = mb.address >= kMbWidth && mb.address % kMbWidth + 1 < kMbWidth &&
                               slice_of[static_cast<std::size_t>(mb.address - kMbWidth)] == mb.slice;
      for (int block = 0; block < 16; ++block) {
        const int mode = mb.intra4x4_pred_mode[static_cast<std::size_t>(block)];
        if (mode != core::kIntra4x4DiagonalDownLeft && mode != core::kIntra4x4VerticalLeft) continue;
        ++(block == 5 && above_right ? there : elsewhere);
      }
    });
    EXPECT_EQ(there, 0) << slices << " slices";
    EXPECT_GT(elsewhere, 100) << slices << " slices: the picture says nothing";
  }
}

// So what is coded in a column of macroblocks never depends on the columns to its right.
TEST_P(RowDistance, ColumnsToTheRightChangeNothing) {
  constexpr int kMbWidth = 10, kMbHeight = 6, kChanged = 6;  // the macroblock of row 0
  const Picture picture = make_picture(Content::natural, 16 * kMbWidth, 16 * kMbHeight);
  Picture changed = picture;
  for (int y = 0; y < 16; ++y) {
    for (int x = 16 * kChanged; x < 16 * (kChanged + 1); ++x) {
      std::uint8_t& sample = changed.plane(0)[y * changed.plane_width(0) + x];
      sample = static_cast<std::uint8_t>(255 - sample);
    }
  }
  const auto macroblocks = [&](const Picture& source) {
    std::vector<WalkedMacroblock> found;
    walk_stream(encode(make_config(20, GetParam()), {source}).bytes(),
                [&](const WalkedMacroblock& mb) { found.push_back(mb); });
    return found;
  };
  const std::vector<WalkedMacroblock> before = macroblocks(picture), after = macroblocks(changed);
  bool differs = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool same = before[i].intra4x4_pred_mode == after[i].intra4x4_pred_mode &&
                      before[i].kind == after[i].kind &&
                      std::memcmp(before[i].levels, after[i].levels, sizeof before[i].levels) == 0;
    if (static_cast<int>(i) % kMbWidth < kChanged) {
      EXPECT_TRUE(same) << "macroblock " << i;
    } else {
      differs |= !same;
    }
  }
  EXPECT_TRUE(differs);
}

INSTANTIATE_TEST_SUITE_P(Presets, RowDistance, ::testing::ValuesIn(kPresets));

}  // namespace
}  // namespace cu264::test
