#include "tests/parity/coded_pictures.h"

#include <algorithm>
#include <cstring>

#include "core/mb_syntax.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/reconstruct_slice.h"

namespace cu264::parity {
namespace {

using core::MacroblockKind;
using core::MacroblockRecord;

int uniform(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::uint8_t sample(Content content, int x, int y, int width, std::mt19937& random) {
  switch (content) {
    case Content::flat:
      return 77;
    case Content::ramp:
      return static_cast<std::uint8_t>(x + 2 * y);
    case Content::texture: {
      const int grain = (x / 40 + y / 24) % 3 == 0 ? uniform(random, -24, 24) : uniform(random, -3, 3);
      return static_cast<std::uint8_t>(std::clamp(128 + (x * y / 64) % 61 - 30 + grain, 0, 255));
    }
    case Content::half_noise:
      if (x < width / 2) return 200;
      [[fallthrough]];
    case Content::noise:
      return static_cast<std::uint8_t>(random());
    case Content::small_values:  // coded as I_PCM, these samples need emulation prevention
      return static_cast<std::uint8_t>(uniform(random, 0, 9) < 7 ? 0 : uniform(random, 0, 4));
  }
  return 0;
}

TestPicture source_picture(const Shape& shape, Content content, std::mt19937& random) {
  TestPicture picture;
  const int chroma = shape.format == PixelFormat::gray8 ? 0 : 2;
  const int half_width = (shape.width + 1) / 2, half_height = (shape.height + 1) / 2;
  for (int y = 0; y < shape.height; ++y) {
    for (int x = 0; x < shape.width; ++x)
      picture.samples.push_back(sample(content, x, y, shape.width, random));
  }
  for (int i = 0; i < chroma * half_width * half_height; ++i) {
    const int x = i % half_width, y = i / half_width % half_height;
    picture.samples.push_back(sample(content, 2 * x, 2 * y, shape.width, random));
  }
  picture.coded.resize((shape.width + 15) / 16, (shape.height + 15) / 16, shape.slices);
  picture.coded.transform_8x8_mode = shape.transform_8x8_mode;
  encoder::ingest(frame_of(shape, picture.samples.data()), picture.coded);
  return picture;
}

// An 8x8 block that coded_block_pattern has must have levels, because CABAC has no coded_block_flag for it.
void leave_out_empty_blocks(MacroblockRecord& mb) {
  for (int block = 0; block < 4; ++block) {
    if ((mb.nonzero_blocks >> (core::kSlotLuma + 4 * block) & 15) != 0) continue;
    mb.coded_block_pattern = static_cast<std::uint8_t>(mb.coded_block_pattern & ~(1 << block));
  }
}

}  // namespace

Frame frame_of(const Shape& shape, const std::uint8_t* samples) {
  Frame frame;
  frame.format = shape.format;
  frame.width = shape.width, frame.height = shape.height;
  const int half_width = (shape.width + 1) / 2, half_height = (shape.height + 1) / 2;
  frame.plane[0] = samples;
  frame.plane[1] = samples + shape.width * shape.height;
  frame.plane[2] = frame.plane[1] + half_width * half_height;
  frame.pitch[0] = shape.width;
  frame.pitch[1] = frame.pitch[2] = shape.format == PixelFormat::nv12 ? 2 * half_width : half_width;
  return frame;
}

TestPicture coded_picture(const Shape& shape, Content content, int qp, std::mt19937& random) {
  TestPicture picture = source_picture(shape, content, random);
  for (int slice = 0; slice < shape.slices; ++slice) {
    encoder::reconstruct_slice(picture.coded, slice, qp, Preset::fast);
  }
  return picture;
}

TestPicture invented_picture(const Shape& shape, int density, int largest, std::mt19937& random) {
  TestPicture picture = source_picture(shape, Content::small_values, random);
  encoder::CpuPicture& coded = picture.coded;
  std::fill(coded.levels.begin(), coded.levels.end(), std::int16_t{0});
  std::fill(coded.total_coeff.begin(), coded.total_coeff.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < coded.macroblocks.size(); ++i) {
    MacroblockRecord& mb = coded.macroblocks[i] = MacroblockRecord{};
    mb.kind = uniform(random, 0, 2) == 0                               ? MacroblockKind::intra16x16
              : shape.transform_8x8_mode && uniform(random, 0, 1) == 0 ? MacroblockKind::intra8x8
                                                                       : MacroblockKind::intra4x4;
    mb.transform_8x8_mode = shape.transform_8x8_mode;
    const bool has_modes = core::is_i_nxn(mb.kind);
    mb.intra16x16_pred_mode = static_cast<std::uint8_t>(uniform(random, 0, 3));
    mb.intra_chroma_pred_mode = static_cast<std::uint8_t>(uniform(random, 0, 3));
    const int luma = has_modes ? uniform(random, 0, 15) : 15 * uniform(random, 0, 1);
    mb.coded_block_pattern = static_cast<std::uint8_t>(luma | uniform(random, 0, 2) << 4);
    mb.mb_qp_delta = static_cast<std::int8_t>(uniform(random, -26, 25));
    for (int block = 0; block < 16; ++block) {
      const bool repeated = block % core::blocks_of_a_mode(mb.kind) != 0;
      mb.intra4x4_pred_mode[block] = static_cast<std::uint8_t>(repeated    ? mb.intra4x4_pred_mode[block - 1]
                                                               : has_modes ? uniform(random, 0, 8)
                                                                           : core::kIntra4x4Dc);
    }
    invent_levels(mb, coded.levels.data() + i * core::kLevelsPerMacroblock,
                  coded.total_coeff.data() + i * core::kTotalCoeffStride, density, largest, random);
  }
  return picture;
}

void invent_levels(MacroblockRecord& mb, std::int16_t* levels, std::uint8_t* total_coeff, int density,
                   int largest, std::mt19937& random) {
  int left =
      largest > 2 ? 70 : 200;  // so few levels keep a macroblock within 3200 bits whatever their values
  for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
    if (!core::slot_is_coded(mb, slot)) continue;
    for (int k = 0; k < core::slot_max_num_coeff(mb, slot) && left > 0; ++k) {
      if (uniform(random, 0, 255) >= density) continue;
      const int magnitude = uniform(random, 0, 3) == 0 ? uniform(random, 1, largest) : 1;
      levels[slot * core::kLevelsPerBlock + k] =
          static_cast<std::int16_t>(uniform(random, 0, 1) == 0 ? magnitude : -magnitude);
      ++total_coeff[slot];
      --left;
    }
    mb.nonzero_blocks |= static_cast<std::uint32_t>(total_coeff[slot] != 0) << slot;
  }
  if (core::has_large_transform(mb)) leave_out_empty_blocks(mb);
}

void sprinkle_pcm(TestPicture& picture, int one_in, std::mt19937& random) {
  encoder::CpuPicture& coded = picture.coded;
  for (std::size_t i = 0; i < coded.macroblocks.size(); ++i) {
    if (uniform(random, 1, one_in) != 1) continue;
    MacroblockRecord& mb = coded.macroblocks[i] = MacroblockRecord{};
    mb.kind = MacroblockKind::pcm;
    std::fill(std::begin(mb.intra4x4_pred_mode), std::end(mb.intra4x4_pred_mode),
              static_cast<std::uint8_t>(core::kIntra4x4Dc));
    std::uint8_t* const total_coeff = coded.total_coeff.data() + i * core::kTotalCoeffStride;
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      const bool dc =
          slot == core::kSlotLumaDc || (slot >= core::kSlotChromaDc && slot < core::kSlotChromaAc);
      total_coeff[slot] = dc ? 0 : 16;
    }
    std::int16_t* const levels = coded.levels.data() + i * core::kLevelsPerMacroblock;
    std::fill(levels, levels + core::kLevelsPerMacroblock, std::int16_t{0});
  }
}

}  // namespace cu264::parity
