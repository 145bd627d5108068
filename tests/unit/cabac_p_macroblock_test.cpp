// The bins of P macroblocks agree with the tables and clauses of H.264 9.3.2 and 9.3.3.1, with contexts by
// the standard's ctxIdx.

#include "core/cabac_p_macroblock.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/cabac_encoder.h"

namespace {

using namespace cu264::core;

// Bins as text: "ctxIdx:bin" for decisions, the bins for bypass, t and the bin for terminate.
struct TextSink {
  std::string text;

  void decision(int context, int bin) {
    text += std::to_string(p_ctx_idx(context)) + ":" + std::to_string(bin) + " ";
  }
  void bypass(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) text += (value >> i & 1) != 0 ? '1' : '0';
    text += " ";
  }
  void terminate(int bin) { text += "t" + std::to_string(bin) + " "; }
};

template <class Put>
std::string bins_of(const Put& put) {
  TextSink sink;
  put(sink);
  return sink.text;
}

TEST(CabacPContexts, HaveTheStandardsNumbers) {
  std::set<int> numbers;
  for (int context = 0; context < kCabacPContexts; ++context) numbers.insert(p_ctx_idx(context));
  EXPECT_EQ(numbers.size(), static_cast<std::size_t>(kCabacPContexts));
  EXPECT_EQ(p_ctx_idx(kCtxMbSkip), 11);
  EXPECT_EQ(p_ctx_idx(kCtxPMbType), 14);
  EXPECT_EQ(p_ctx_idx(kCtxSubMbType), 21);
  EXPECT_EQ(p_ctx_idx(kCtxMvd), 40);
  EXPECT_EQ(p_ctx_idx(kCabacPContexts - 1), 53);
  EXPECT_EQ(p_ctx_idx(kCtxAbsLevel8x8), 426);
}

TEST(CabacPContexts, BeginInStatesThatDecisionsCanHave) {
  for (int idc = 0; idc < kCabacInitIdcs; ++idc) {
    for (int context = 0; context < kCabacPContexts; ++context) {
      for (int qp = 0; qp <= 51; ++qp) ASSERT_LT(p_initial_state(context, qp, idc), 2 * 63) << context;
    }
  }
}

// A few entries of tables 9-13, 9-14, 9-16, 9-18, 9-24 and 9-33.
TEST(CabacPContexts, HoldTheTables) {
  const auto check = [](int context, int idc, int m, int n) {
    const ContextInit init = p_context_init(context, idc);
    EXPECT_EQ(init.m, m) << context << " " << idc;
    EXPECT_EQ(init.n, n) << context << " " << idc;
  };
  check(kCtxMbSkip, 0, 23, 33), check(kCtxMbSkip, 1, 22, 25), check(kCtxMbSkip, 2, 29, 16);
  check(kCtxPMbType, 0, 1, 9), check(kCtxPMbType + 6, 2, 5, 57);
  check(kCtxSubMbType, 0, 12, 49), check(kCtxSubMbType + 2, 1, 10, 54);
  check(kCtxMvd, 0, -3, 69), check(kCtxMvd, 1, -2, 69), check(kCtxMvd, 2, -11, 89);
  check(kCtxPatternLuma, 0, -27, 126), check(kCtxPatternLuma, 2, -36, 127);
  check(kCtxTransformSize, 0, 12, 40), check(kCtxTransformSize, 1, 25, 32),
      check(kCtxTransformSize, 2, 21, 33);
}

TEST(CabacPMacroblock, SkipFlagCountsNeighboursThatAreNotSkipped) {
  MacroblockRecord skipped, coded;
  skipped.kind = MacroblockKind::p_skip, coded.kind = MacroblockKind::intra4x4;
  const auto bins = [&](const MacroblockRecord& mb, const MacroblockRecord* a, const MacroblockRecord* b) {
    return bins_of([&](TextSink& sink) { put_cabac_skip_flag(sink, mb, a, b); });
  };
  EXPECT_EQ(bins(skipped, nullptr, nullptr), "11:1 ");
  EXPECT_EQ(bins(coded, &skipped, nullptr), "11:0 ");
  EXPECT_EQ(bins(coded, &skipped, &coded), "12:0 ");
  EXPECT_EQ(bins(skipped, &coded, &coded), "13:1 ");
}

TEST(CabacPMacroblock, MbTypeIsTable937) {
  MacroblockRecord mb;
  const auto bins = [&](MacroblockKind kind) {
    mb.kind = kind;
    return bins_of([&](TextSink& sink) { put_cabac_p_mb_type(sink, mb); });
  };
  EXPECT_EQ(bins(MacroblockKind::p16x16), "14:0 15:0 16:0 ");
  EXPECT_EQ(bins(MacroblockKind::p8x8), "14:0 15:0 16:1 ");
  EXPECT_EQ(bins(MacroblockKind::p8x16), "14:0 15:1 17:0 ");
  EXPECT_EQ(bins(MacroblockKind::p16x8), "14:0 15:1 17:1 ");
  EXPECT_EQ(bins(MacroblockKind::intra4x4), "14:1 17:0 ");
  EXPECT_EQ(bins(MacroblockKind::pcm), "14:1 17:1 t1 ");
  mb.intra16x16_pred_mode = 2;
  EXPECT_EQ(bins(MacroblockKind::intra16x16), "14:1 17:1 t0 18:0 19:0 20:1 20:0 ");
  mb.coded_block_pattern = 0x2f;
  EXPECT_EQ(bins(MacroblockKind::intra16x16), "14:1 17:1 t0 18:1 19:1 19:1 20:1 20:0 ");
}

// UEG3 with signedValFlag 1 and uCoff 9 (9.3.2.3), written out.
std::string mvd_text(int value, int component, int sum) {
  const int offset = component == 0 ? 40 : 47, first = sum < 3 ? 0 : sum <= 32 ? 1 : 2;
  const int magnitude = std::abs(value);
  std::string text;
  for (int bin = 0; bin < 9; ++bin) {
    constexpr int inc[9] = {0, 3, 4, 5, 6, 6, 6, 6, 6};
    text += std::to_string(offset + (bin == 0 ? first : inc[bin])) + (bin < magnitude ? ":1 " : ":0 ");
    if (bin >= magnitude) break;
  }
  if (magnitude >= 9) {
    int rest = magnitude - 9, k = 3;
    for (; rest >= 1 << k; rest -= 1 << k, ++k) text += "1";
    text += "0";
    while (k-- > 0) text += (rest >> k & 1) != 0 ? "1" : "0";
    text += " ";
  }
  if (magnitude != 0) text += value < 0 ? "1 " : "0 ";
  return text;
}

TEST(CabacPMacroblock, MvdIsUeg3) {
  for (int value = -9000; value <= 9000; value += std::abs(value) < 300 ? 1 : 97) {
    for (const int sum : {0, 2, 3, 32, 33, 5000}) {
      const int component = value & 1;
      EXPECT_EQ(bins_of([&](TextSink& sink) { put_cabac_mvd(sink, value, component, sum); }),
                mvd_text(value, component, sum));
    }
  }
}

TEST(CabacPMacroblock, MvdNeighboursAreThePartitionsBesideAndAbove) {
  MotionRecord here, left, above;
  for (int block = 0; block < 4; ++block) {
    here.mvd[block] = motion_vector(block, 0), left.mvd[block] = motion_vector(10 + block, 0);
    above.mvd[block] = motion_vector(20 + block, 0);
  }
  constexpr int a[4] = {11, 0, 13, 2}, b[4] = {22, 23, 0, 1};
  for (int block = 0; block < 4; ++block) {
    const MvdNeighbours n = mvd_neighbours(here, &left, &above, block);
    EXPECT_EQ(n.a.x, a[block]) << block;
    EXPECT_EQ(n.b.x, b[block]) << block;
    const MvdNeighbours alone = mvd_neighbours(here, nullptr, nullptr, block);
    EXPECT_EQ(alone.a.x, (block & 1) != 0 ? a[block] : 0);
    EXPECT_EQ(alone.b.x, (block & 2) != 0 ? b[block] : 0);
  }
}

// 9.3.3.1.1.9: where there is no neighbour, coded_block_flag counts as set for I macroblocks only.
TEST(CabacPMacroblock, MissingNeighboursHaveNoCoefficientsForInter) {
  MacroblockRecord mb;
  EXPECT_EQ(cabac_p_neighbours(mb, nullptr, nullptr).left.coded_blocks, (1u << kBlocksPerMacroblock) - 1);
  mb.kind = MacroblockKind::p16x16;
  EXPECT_EQ(cabac_p_neighbours(mb, nullptr, nullptr).left.coded_blocks, 0u);
  EXPECT_EQ(cabac_p_neighbours(mb, nullptr, nullptr).above.coded_block_pattern, 0x0f);
}

}  // namespace
