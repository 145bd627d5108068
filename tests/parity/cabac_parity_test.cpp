// CABAC on the GPU gives the bytes of the CPU's slice coder and NAL writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"
#include "core/mb_syntax.h"
#include "core/quant.h"
#include "core/slice_header.h"
#include "entropy/cabac/slice_bits_layout.h"
#include "tests/parity/cabac_runner.h"
#include "tests/parity/coded_pictures.h"
#include "tests/parity/device_test.h"
#include "tests/parity/packed_checks.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using core::SliceHeaderBits;

// A batch with the parameters of its pictures, which differ from one to the next.
struct Batch {
  Batch(const Shape& batch_shape, std::vector<TestPicture> batch_pictures, int first_qp = 27)
      : shape(batch_shape), pictures(std::move(batch_pictures)) {
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      core::PictureParams& picture = params.emplace_back();
      picture.qp = static_cast<std::uint8_t>((static_cast<std::size_t>(first_qp) + 11 * i) % 52);
      picture.idr_pic_id = static_cast<std::uint8_t>(i % 3);
      picture.deblock = i % 3 != 2;
    }
    headers = slice_headers(shape, params);
  }

  Shape shape;
  std::vector<TestPicture> pictures;
  std::vector<core::PictureParams> params;
  std::vector<SliceHeaderBits> headers;  // [picture][slice]
};

// The access unit of the batch's picture number `index`.
ExpectedPicture expected(Batch& batch, std::size_t index) {
  return cabac_picture(batch.pictures[index],
                       batch.headers.data() + index * static_cast<std::size_t>(batch.shape.slices),
                       batch.params[index]);
}

class CabacParity : public DeviceTest {
 protected:
  static void expect_parity(Batch batch, const std::string& what) {
    std::vector<ExpectedPicture> wanted;
    for (std::size_t i = 0; i < batch.pictures.size(); ++i) wanted.push_back(expected(batch, i));
    const std::vector<PackedBatch> runs =
        code_cabac_on_device(batch.shape, batch.pictures, batch.params, batch.headers);
    expect_packed(runs, wanted, batch.shape, what);
  }

  std::mt19937 random_{264};
};

std::vector<TestPicture> all_contents(const Shape& shape, int qp, std::mt19937& random) {
  std::vector<TestPicture> pictures;
  for (const Content content : {Content::flat, Content::ramp, Content::texture, Content::noise,
                                Content::half_noise, Content::small_values}) {
    pictures.push_back(coded_picture(shape, content, qp, random));
  }
  return pictures;
}

TEST_F(CabacParity, SmallPictures) {
  test::QuickCases cases(3);
  for (const Shape& shape : {Shape{16, 16, 1}, Shape{18, 34, 1}, Shape{96, 96, 2}, Shape{64, 320, 20}}) {
    for (const int qp : {0, 20, 27, 51}) {
      if (cases.leave_out()) continue;
      ASSERT_NO_FATAL_FAILURE(
          expect_parity(Batch(shape, all_contents(shape, qp, random_), qp), "QP " + std::to_string(qp)));
    }
  }
}

TEST_F(CabacParity, CodedPictures) {
  for (const Shape& shape : {Shape{352, 288, 5}, Shape{352, 288, 1}, Shape{640, 16, 1}}) {
    for (const int qp : {0, 5, 12, 27, 40, 51}) {
      ASSERT_NO_FATAL_FAILURE(
          expect_parity(Batch(shape, all_contents(shape, qp, random_), qp), "QP " + std::to_string(qp)));
    }
  }
}

TEST_F(CabacParity, BatchesOfLargePictures) {
  for (const int pictures_in_batch : {1, 3}) {
    for (const int slices : {1, 5, 68}) {
      const Shape shape{1920, 1088, slices};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < pictures_in_batch; ++i) {
        pictures.push_back(coded_picture(shape, Content::texture, 20 + 7 * i, random_));
      }
      ASSERT_NO_FATAL_FAILURE(expect_parity(Batch(shape, pictures), "texture"));
    }
  }
}

// Levels of all densities and magnitudes. MoreItemsThanThePoolHolds has those with most items.
TEST_F(CabacParity, InventedPictures) {
  for (const int density : {0, 3, 30, 120, 256}) {
    for (const int largest : {1, 2, 40, core::kMaxLevel}) {
      const Shape shape{336, 208, 1 + static_cast<int>(random_() % 13)};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 6; ++i) pictures.push_back(invented_picture(shape, density, largest, random_));
      ASSERT_NO_FATAL_FAILURE(
          expect_parity(Batch(shape, pictures),
                        "density " + std::to_string(density) + " largest " + std::to_string(largest)));
    }
  }
}

TEST_F(CabacParity, LargeTransform) {
  for (const int qp : {0, 20, 36}) {
    const Shape shape{96, 80, 2, PixelFormat::i420, true};
    ASSERT_NO_FATAL_FAILURE(
        expect_parity(Batch(shape, all_contents(shape, qp, random_), qp), "QP " + std::to_string(qp)));
  }
  for (const int density : {2, 30, 256}) {
    for (const int largest : {1, 40, core::kMaxLevel}) {
      const Shape shape{112, 96, 1 + static_cast<int>(random_() % 6), PixelFormat::i420, true};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 2; ++i) pictures.push_back(invented_picture(shape, density, largest, random_));
      sprinkle_pcm(pictures[1], 8, random_);
      ASSERT_NO_FATAL_FAILURE(
          expect_parity(Batch(shape, pictures),
                        "density " + std::to_string(density) + " largest " + std::to_string(largest)));
    }
  }
}

// Gives every coefficient of a picture a level, which no macroblock has after the search. `random`: their
// signs and the last bin of their prefix are drawn.
void fill_levels(encoder::CpuPicture& coded, std::mt19937* random) {
  for (std::size_t mb = 0; mb < coded.macroblocks.size(); ++mb) {
    core::MacroblockRecord& record = coded.macroblocks[mb];
    record.kind = core::MacroblockKind::intra4x4;
    record.coded_block_pattern = 47;
    record.nonzero_blocks = 0x7fffffe;
    for (int slot = 1; slot < core::kBlocksPerMacroblock; ++slot) {
      std::int16_t* const levels = coded.levels.data() + mb * core::kLevelsPerMacroblock +
                                   static_cast<std::size_t>(slot) * core::kLevelsPerBlock;
      for (int k = 0; k < core::slot_max_num_coeff(record, slot); ++k) {
        const int bits = random != nullptr ? static_cast<int>((*random)() % 4) : 0;
        levels[k] = static_cast<std::int16_t>((bits & 1) != 0 ? 14 + bits / 2 : -16 - bits / 2);
      }
    }
  }
}

// A batch has many times the items that the pool holds, in some of its slices.
TEST_F(CabacParity, MoreItemsThanThePoolHolds) {
  for (const int slices : {1, 3}) {
    const Shape shape{64, 48, slices};
    std::vector<TestPicture> pictures;
    for (int i = 0; i < 5; ++i) {
      TestPicture& picture =
          pictures.emplace_back(invented_picture(shape, i % 2 == 0 ? 40 : 256, 9, random_));
      if (i == 1) fill_levels(picture.coded, &random_);
      if (i == 3) sprinkle_pcm(picture, 3, random_);
    }
    ASSERT_NO_FATAL_FAILURE(expect_parity(Batch(shape, pictures), "long"));
  }
}

// So many bins for so few bytes that pictures end with cabac_zero_words.
TEST_F(CabacParity, ZeroWords) {
  for (const int slices : {1, 2}) {
    const Shape shape{96, 64, slices};
    std::vector<TestPicture> pictures;
    for (int i = 0; i < 3; ++i) pictures.push_back(invented_picture(shape, 3, 2, random_));
    fill_levels(pictures[1].coded, nullptr);
    Batch batch(shape, pictures);
    EXPECT_EQ(expected(batch, 0).zero_words, 0u);
    EXPECT_GT(expected(batch, 1).zero_words, 0u);
    ASSERT_NO_FATAL_FAILURE(expect_parity(batch, "zero words"));
  }
}

TEST_F(CabacParity, PcmAmongOthersAndAlone) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::gray8}) {
    for (const int one_in : {1, 2, 10, 100}) {
      const Shape shape{173, 105, 1 + static_cast<int>(random_() % 7), format};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 3; ++i) {
        pictures.push_back(invented_picture(shape, 4 + 20 * i, 9, random_));
        sprinkle_pcm(pictures.back(), one_in, random_);
      }
      ASSERT_NO_FATAL_FAILURE(
          expect_parity(Batch(shape, pictures), "one I_PCM in " + std::to_string(one_in)));
    }
  }
}

// Chunks begin anywhere in the items of I_PCM macroblocks, between the two that tell the index among them.
TEST_F(CabacParity, PcmAcrossChunks) {
  const Shape shape{640, 352, 1};
  std::vector<TestPicture> pictures;
  for (int i = 0; i < 12; ++i) {
    const TestPicture others = invented_picture(shape, 8, 9, random_);
    TestPicture& picture = pictures.emplace_back(others);
    sprinkle_pcm(picture, 1, random_);
    encoder::CpuPicture& coded = picture.coded;
    // The items of the first macroblocks move all later items.
    const int moved = 1 + i % 4;
    std::copy_n(others.coded.macroblocks.begin(), moved, coded.macroblocks.begin());
    std::copy_n(others.coded.levels.begin(), moved * core::kLevelsPerMacroblock, coded.levels.begin());
    std::copy_n(others.coded.total_coeff.begin(), moved * core::kTotalCoeffStride, coded.total_coeff.begin());
  }
  ASSERT_NO_FATAL_FAILURE(expect_parity(Batch(shape, pictures), "I_PCM across chunks"));
}

// More slices than warps, so that each lane of a warp has one.
TEST_F(CabacParity, ManySlices) {
  const Shape shape{32, 68 * 16, 68};
  std::vector<TestPicture> pictures;
  for (int i = 0; i < 5; ++i) pictures.push_back(invented_picture(shape, 2 * i * i, 1 + 3 * i, random_));
  sprinkle_pcm(pictures.back(), 30, random_);
  for (std::size_t i = 0; pictures.size() < 70; ++i) pictures.push_back(TestPicture(pictures[i]));
  ASSERT_NO_FATAL_FAILURE(expect_parity(Batch(shape, pictures), "many slices"));
}

}  // namespace
}  // namespace cu264::parity
