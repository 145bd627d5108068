#include "tests/parity/p_pictures.h"

#include <algorithm>
#include <utility>

#include "core/motion_prediction.h"
#include "tests/parity/coded_gop.h"

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

}  // namespace cu264::parity
