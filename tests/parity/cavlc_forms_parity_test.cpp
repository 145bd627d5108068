// CAVLCU as published, its tuned form and CAVLC_SU give, block by block, the codes of the CPU's block coder.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/bits.h"
#include "core/cavlc_block.h"
#include "core/mb_syntax.h"
#include "core/quant.h"
#include "core/slot_neighbours.h"
#include "entropy/cavlc/published/block_codes.h"
#include "tests/parity/coded_pictures.h"
#include "tests/parity/device_test.h"
#include "tests/parity/pack_runner.h"

namespace cu264::parity {
namespace {

// A string with one character for each bit.
struct TextSink {
  std::string text;
  void put(std::uint32_t value, int length) {
    for (int i = length - 1; i >= 0; --i) text += (value >> i) & 1 ? '1' : '0';
  }
};

// The codes of a picture's blocks; a slot that is not coded has an empty one.
std::vector<std::string> expected(const encoder::CpuPicture& picture) {
  std::vector<std::string> blocks;
  for (int y = 0; y < picture.mb_height; ++y) {
    const bool above = y > 0 && core::slice_of_row(y, picture.slices, picture.mb_height) ==
                                    core::slice_of_row(y - 1, picture.slices, picture.mb_height);
    for (int x = 0; x < picture.mb_width; ++x) {
      const std::size_t index = static_cast<std::size_t>(y) * picture.mb_width + x;
      const core::MacroblockRecord& mb = picture.macroblocks[index];
      const std::uint8_t* const here = picture.total_coeff.data() + index * core::kTotalCoeffStride;
      for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
        TextSink sink;
        if (core::slot_is_coded(mb, slot)) {
          const std::int16_t* const levels =
              picture.levels.data() + index * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
          const int max_num_coeff = core::slot_max_num_coeff(mb, slot);
          const int nC = core::slot_nc(slot, core::slot_neighbours(slot), here,
                                       x > 0 ? here - core::kTotalCoeffStride : nullptr,
                                       above ? here - core::kTotalCoeffStride * picture.mb_width : nullptr);
          core::put_block(sink, levels, core::cavlc_symbols(levels, max_num_coeff), max_num_coeff, nC);
        }
        blocks.push_back(sink.text);
      }
    }
  }
  return blocks;
}

std::string text_of(const std::uint32_t* words, std::size_t bits) {
  std::string text;
  for (std::size_t i = 0; i < bits; ++i) text += (words[i / 32] >> (31 - i % 32)) & 1 ? '1' : '0';
  return text;
}

class CavlcForms : public DeviceTest, public testing::WithParamInterface<CodingForm> {
 protected:
  void expect_parity(const Shape& shape, const std::vector<TestPicture>& pictures, const std::string& what) {
    const std::vector<CodedBlocks> runs = code_on_device(GetParam(), shape, pictures, repetitions(3, 2));
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      const std::vector<std::string> wanted = expected(pictures[i].coded);
      std::string whole;
      for (const std::string& block : wanted) whole += block;
      for (std::size_t run = 0; run < runs.size(); ++run) {
        const std::string where = what + ", run " + std::to_string(run) + ", picture " + std::to_string(i);
        for (std::size_t b = 0; b < wanted.size(); ++b) {
          const std::size_t at = i * wanted.size() + b;
          ASSERT_EQ(text_of(runs[run].words.data() + at * entropy::kBlockWords, runs[run].lengths[at]),
                    wanted[b])
              << where << ", macroblock " << b / core::kBlocksPerMacroblock << ", slot "
              << b % core::kBlocksPerMacroblock;
        }
        ASSERT_EQ(runs[run].packed_bits[i], whole.size()) << where;
        ASSERT_EQ(text_of(runs[run].packed.data() + i * runs[run].packed_words, whole.size()), whole)
            << where;
      }
    }
  }

  std::mt19937 random_{264};
};

TEST_P(CavlcForms, SmallCase) {
  const Shape shape{80, 48, 2};
  std::vector<TestPicture> pictures = {coded_picture(shape, Content::texture, 22, random_),
                                       invented_picture(shape, 90, core::kMaxLevel, random_)};
  sprinkle_pcm(pictures[1], 5, random_);
  ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "small"));
}

TEST_P(CavlcForms, CodedPictures) {
  for (const Shape& shape : {Shape{16, 16, 1}, Shape{96, 96, 2}, Shape{352, 288, 5}, Shape{64, 320, 20}}) {
    for (const int qp : {0, 20, 27, 40, 51}) {
      std::vector<TestPicture> pictures;
      for (const Content content : {Content::texture, Content::noise, Content::flat, Content::half_noise}) {
        pictures.push_back(coded_picture(shape, content, qp, random_));
      }
      ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "QP " + std::to_string(qp)));
    }
  }
}

TEST_P(CavlcForms, InventedPicturesWithPcm) {
  for (const int density : {0, 3, 30, 120, 256}) {
    for (const int largest : {1, 40, core::kMaxLevel}) {
      const Shape shape{336, 208, 1 + static_cast<int>(random_() % 13)};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 5; ++i) {
        pictures.push_back(invented_picture(shape, density, largest, random_));
        if (i > 1) sprinkle_pcm(pictures.back(), 10, random_);
      }
      ASSERT_NO_FATAL_FAILURE(expect_parity(
          shape, pictures, "density " + std::to_string(density) + " largest " + std::to_string(largest)));
    }
  }
}

// All QPs, slices of one row and of many, widths from one macroblock to more than two regions of CAVLCU.
TEST_P(CavlcForms, AllQps) {
  for (int qp = 0; qp <= 51; ++qp) {
    const Shape shape{16 * (1 + qp % 19), 16 * (1 + qp % 5), 1 + qp % (1 + qp % 5)};
    const std::vector<TestPicture> pictures = {coded_picture(shape, Content::texture, qp, random_),
                                               coded_picture(shape, Content::half_noise, qp, random_)};
    ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "QP " + std::to_string(qp)));
  }
}

TEST_P(CavlcForms, LargePicture) {
  const Shape shape{1920, 1088, 3};
  const std::vector<TestPicture> pictures = {coded_picture(shape, Content::texture, 24, random_)};
  ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "texture"));
}

INSTANTIATE_TEST_SUITE_P(Forms, CavlcForms,
                         testing::Values(CodingForm::cavlcu, CodingForm::cavlcu_tuned, CodingForm::cavlc_su),
                         [](const testing::TestParamInfo<CodingForm>& form) {
                           return form.param == CodingForm::cavlcu         ? "Cavlcu"
                                  : form.param == CodingForm::cavlcu_tuned ? "CavlcuTuned"
                                                                           : "CavlcSu";
                         });

class CavlcuLuma : public DeviceTest {};

// The kernel of the paper, which codes luma only.
TEST_F(CavlcuLuma, HasTheLengthsOfTheCpuCoder) {
  std::mt19937 random(264);
  const Shape shape{176, 144, 2};
  std::vector<TestPicture> pictures = {coded_picture(shape, Content::texture, 24, random),
                                       invented_picture(shape, 60, 40, random)};
  sprinkle_pcm(pictures[1], 7, random);
  std::vector<std::size_t> wanted, lengths;
  for (const TestPicture& picture : pictures) {
    const std::vector<std::string> blocks = expected(picture.coded);
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const int slot = static_cast<int>(block % core::kBlocksPerMacroblock);
      if (slot >= core::kSlotLuma && slot < core::kSlotChromaDc) wanted.push_back(blocks[block].size());
    }
  }
  for (const std::uint16_t length : luma_lengths_on_device(shape, pictures)) lengths.push_back(length);
  EXPECT_EQ(lengths, wanted);
}

}  // namespace
}  // namespace cu264::parity
