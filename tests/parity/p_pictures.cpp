#include "tests/parity/p_pictures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/motion_prediction.h"
#include "core/quant.h"
#include "tests/parity/coded_gop.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using core::MacroblockKind;
using core::MacroblockRecord;
using core::MotionRecord;

int below(std::mt19937& random, int end) {
  return static_cast<int>(random() % static_cast<unsigned>(end));
}

core::MotionVector invented_mvd(const PContent& content, std::mt19937& random) {
  const auto component = [&] {
    if (content.powers) return 1 << below(random, 14);
    const int most = below(random, 3) == 0 ? content.mvd : std::min(content.mvd, 3);
    return below(random, 2 * most + 1) - most;
  };
  const int x = component();
  return core::motion_vector(x, component());
}

// Draws everything but the kind.
void invent_inter(MacroblockRecord& mb, MotionRecord& motion, const PContent& content, std::int16_t* levels,
                  std::uint8_t* total_coeff, std::mt19937& random) {
  for (int block = 0; block < 4; ++block) {
    motion.mvd[block] = core::begins_partition(mb.kind, block)
                            ? invented_mvd(content, random)
                            : motion.mvd[core::first_of_partition(mb.kind, block)];
  }
  const int luma = below(random, 3) == 0 ? 0 : below(random, 16);
  mb.coded_block_pattern = static_cast<std::uint8_t>(luma | below(random, 3) << 4);
  mb.mb_qp_delta = static_cast<std::int8_t>(below(random, 2) == 0 ? 0 : below(random, 52) - 26);
  mb.inter_transform_8x8 = mb.transform_8x8_mode && luma != 0 && below(random, 2) == 0;
  invent_levels(mb, levels, total_coeff, content.density, content.largest, random);
  if ((mb.coded_block_pattern & 15) == 0) mb.inter_transform_8x8 = false;
}

}  // namespace

std::vector<TestPicture> coded_clip(const Shape& shape, test::Motion motion, int count, int qp, Preset preset,
                                    bool cabac) {
  const std::vector<test::Picture> clip = test::make_clip(motion, shape.width, shape.height, count);
  std::vector<CodedInGop> gop =
      code_gop(clip, {qp, preset, shape.slices, shape.transform_8x8_mode, cabac, 2});
  std::vector<TestPicture> pictures(clip.size());
  for (std::size_t i = 0; i < clip.size(); ++i) {
    pictures[i].samples = clip[i].samples;
    pictures[i].coded = std::move(gop[i].coded);
  }
  return pictures;
}

TestPicture invented_p_picture(const Shape& shape, const PContent& content, std::mt19937& random) {
  TestPicture picture = invented_picture(shape, content.density, content.largest, random);
  encoder::CpuPicture& coded = picture.coded;
  if (content.pcm_in > 0) sprinkle_pcm(picture, content.pcm_in, random);
  coded.inter = true;
  coded.motion.resize(coded.macroblocks.size());
  bool in_run = content.runs && below(random, 2) == 0;
  for (std::size_t i = 0; i < coded.macroblocks.size(); ++i) {
    if (content.runs && below(random, 50) == 0) in_run = !in_run;
    const bool skipped =
        in_run || below(random, 256) < content.skips || (content.at_ends && i % 32 != 0 && i % 32 != 31);
    MacroblockRecord& mb = coded.macroblocks[i];
    if (!skipped && (mb.kind == MacroblockKind::pcm || below(random, 256) < content.intra)) continue;
    std::int16_t* const levels = coded.levels.data() + i * core::kLevelsPerMacroblock;
    std::uint8_t* const total_coeff = coded.total_coeff.data() + i * core::kTotalCoeffStride;
    std::fill_n(levels, core::kLevelsPerMacroblock, std::int16_t{0});
    std::fill_n(total_coeff, core::kTotalCoeffStride, std::uint8_t{0});
    mb = MacroblockRecord{};
    mb.transform_8x8_mode = shape.transform_8x8_mode;
    std::fill(std::begin(mb.intra4x4_pred_mode), std::end(mb.intra4x4_pred_mode),
              static_cast<std::uint8_t>(core::kIntra4x4Dc));
    mb.kind = MacroblockKind::p_skip;
    if (skipped) continue;
    constexpr MacroblockKind kKinds[] = {MacroblockKind::p16x16, MacroblockKind::p16x8, MacroblockKind::p8x16,
                                         MacroblockKind::p8x8};
    mb.kind = kKinds[below(random, 4)];
    if (content.at_ends && below(random, 4) != 0) {
      mb.kind = MacroblockKind::p16x16;
      continue;
    }
    invent_inter(mb, coded.motion[i], content, levels, total_coeff, random);
  }
  return picture;
}

std::vector<TestPicture> invented_gop(const Shape& shape, const PContent& content, int count,
                                      std::mt19937& random) {
  std::vector<TestPicture> pictures;
  for (int i = 0; i < count; ++i) {
    pictures.push_back(i == 1 ? invented_picture(shape, content.density, content.largest, random)
                              : invented_p_picture(shape, content, random));
  }
  return pictures;
}

void on_coded_clips(bool cabac, const CheckBatch& check) {
  test::QuickCases cases(7);
  for (const test::Motion motion : test::kMotions) {
    for (const Shape& shape : {Shape{64, 48, 1}, Shape{112, 96, 3, PixelFormat::i420, true}}) {
      for (const int qp : {12, 27, 44}) {
        if (cases.leave_out()) continue;
        const Preset preset = qp == 27 ? Preset::balanced : Preset::fast;
        check(shape, coded_clip(shape, motion, test::quick() ? 3 : 6, qp, preset, cabac),
              std::string(test::name_of(motion)) + ", QP " + std::to_string(qp));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

void on_invented_pictures(const std::vector<int>& mvds, std::mt19937& random, const CheckBatch& check) {
  test::QuickCases cases(5);
  for (const int mvd : mvds) {
    for (const int density : {0, 6, 60, 256}) {
      for (const bool large_transform : {false, true}) {
        if (cases.leave_out()) continue;
        const int rows = test::quick() ? 3 : 13;
        const Shape shape{test::quick() ? 128 : 400, 16 * rows, 1 + below(random, rows), PixelFormat::i420,
                          large_transform};
        PContent content;
        content.mvd = mvd, content.density = density;
        content.largest = mvd == 40 ? core::kMaxLevel : 9;
        content.intra = mvd == 2 ? 128 : 20;
        content.pcm_in = density == 6 ? 20 : 0;
        check(shape, invented_gop(shape, content, 5, random),
              "mvd " + std::to_string(mvd) + ", density " + std::to_string(density));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

void on_small_pictures(std::mt19937& random, const CheckBatch& check) {
  for (const Shape& shape : {Shape{16, 16, 1}, Shape{18, 34, 1}, Shape{16, 80, 5}, Shape{80, 16, 1}}) {
    PContent content;
    content.mvd = 300;
    check(shape, invented_gop(shape, content, 6, random), "small");
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace cu264::parity
