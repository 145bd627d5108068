// The packers of the papers leave exactly what the production packer leaves, stream and statistics, and that
// is what the CPU writes (pack_parity_test.cpp): adversarial and random batches, small enough for the
// emulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/block.h"
#include "core/quant.h"
#include "core/slice_header.h"
#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/pack/published/gvle_packer.h"
#include "entropy/pack/published/yavle_packer.h"
#include "tests/parity/coded_pictures.h"
#include "tests/parity/device_test.h"
#include "tests/parity/pack_runner.h"
#include "tests/parity/packed_checks.h"

namespace cu264::parity {
namespace {

using core::SliceHeaderBits;

std::vector<SliceHeaderBits> headers_of(const Shape& shape, std::size_t pictures) {
  std::vector<core::PictureParams> params(pictures);
  for (std::size_t i = 0; i < pictures; ++i) params[i].qp = static_cast<std::uint8_t>((13 + 17 * i) % 52);
  return slice_headers(shape, params);
}

bool same(const entropy::PackedPicture& a, const entropy::PackedPicture& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

class SlicePackParity : public DeviceTest, public testing::WithParamInterface<const entropy::Packer*> {
 protected:
  // Returns the production packer's batch. The codes of blocks and the bits of groups are both packed,
  // twice each: a difference between the runs would be a race.
  static PackedBatch expect_same(const Shape& shape, const std::vector<TestPicture>& pictures,
                                 const std::vector<SliceHeaderBits>& headers, const std::string& what) {
    PackedBatch wanted = pack_on_device(shape, pictures, headers, 1).front();
    for (const entropy::EntropyKernel* const kernel :
         {static_cast<const entropy::EntropyKernel*>(nullptr), &entropy::kCavlcu}) {
      for (const PackedBatch& run : pack_on_device(shape, pictures, headers, 2, 0, kernel, GetParam())) {
        const std::string where = what + (kernel == nullptr ? ", strings of groups" : ", codes of blocks");
        EXPECT_EQ(run.stream.size(), wanted.stream.size()) << where;
        EXPECT_TRUE(run.stream == wanted.stream) << where;
        for (std::size_t i = 0; i < pictures.size(); ++i)
          EXPECT_TRUE(same(run.pictures[i], wanted.pictures[i])) << where << ", picture " << i;
      }
    }
    return wanted;
  }
  static PackedBatch expect_same(const Shape& shape, const std::vector<TestPicture>& pictures,
                                 const std::string& what) {
    return expect_same(shape, pictures, headers_of(shape, pictures.size()), what);
  }

  std::mt19937 random_{2022};
};

// A picture all of whose macroblocks are Intra_16x16 with the fewest bits: 3 of mb_type, one each of
// intra_chroma_pred_mode, mb_qp_delta and the empty DC block.
TestPicture smallest_picture(const Shape& shape, std::mt19937& random) {
  TestPicture picture = invented_picture(shape, 0, 1, random);
  for (core::MacroblockRecord& mb : picture.coded.macroblocks) {
    mb = core::MacroblockRecord{};
    mb.kind = core::MacroblockKind::intra16x16;
    mb.transform_8x8_mode = shape.transform_8x8_mode;
  }
  return picture;
}

// With a header of one bit an RBSP of one macroblock has seven bits and rbsp_stop_one_bit, which is one byte.
TEST_P(SlicePackParity, SlicesOfOneByte) {
  const Shape shape{16, 80, 5};
  const std::vector<TestPicture> pictures(3, smallest_picture(shape, random_));
  const PackedBatch wanted =
      expect_same(shape, pictures, std::vector<SliceHeaderBits>(15, {1, 1}), "one byte");
  ASSERT_EQ(wanted.pictures[0].size, 5u * (4 + 1) + 1);  // prefixes, and the first one's zero_byte
  for (const int length : {2, 3, 8, 9, 31, 32, 33, 63, 64}) {
    const std::uint64_t bits = 0x5a5a0f0f81c3ffe7u >> (64 - length);
    expect_same(shape, pictures, std::vector<SliceHeaderBits>(15, {bits, length}),
                "header of " + std::to_string(length));
  }
}

// Slices whose last block-input has any number of macroblocks, whose items are nearly all empty.
TEST_P(SlicePackParity, EmptyItemsAndPartialBlockInputs) {
  for (const int columns : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33}) {
    const Shape shape{16 * columns, 32, 1 + columns % 2};
    expect_same(shape, {smallest_picture(shape, random_), invented_picture(shape, 1, 1, random_)},
                std::to_string(columns) + " columns");
  }
}

// I_PCM samples of zero: every second byte is followed by an emulation prevention byte.
TEST_P(SlicePackParity, EscapesEverywhere) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::gray8}) {
    const Shape shape{90, 61, 3, format};
    std::vector<TestPicture> pictures;
    for (const int value : {0, 1, 3, 4}) {
      TestPicture& picture = pictures.emplace_back(invented_picture(shape, 0, 1, random_));
      std::fill(picture.samples.begin(), picture.samples.end(), static_cast<std::uint8_t>(value));
      sprinkle_pcm(picture, 1, random_);
    }
    for (const int one_in : {2, 5}) {
      pictures.push_back(invented_picture(shape, 20, 5, random_));
      sprinkle_pcm(pictures.back(), one_in, random_);
    }
    const PackedBatch wanted =
        expect_same(shape, pictures, "format " + std::to_string(static_cast<int>(format)));
    // 24 macroblocks of 384 bytes
    if (format != PixelFormat::gray8) {
      EXPECT_GT(wanted.pictures[0].size, 24u * 384 * 3 / 2);
    }
  }
}

// No macroblock may have more than 3200 bits; here many come near it.
TEST_P(SlicePackParity, LargestLevels) {
  for (const int density : {30, 120, 256}) {
    for (const bool large_transform : {false, true}) {
      const Shape shape{176, 96, 1 + static_cast<int>(random_() % 4), PixelFormat::i420, large_transform};
      std::vector<TestPicture> pictures;
      for (const int largest : {1, 2, 40, core::kMaxLevel})
        pictures.push_back(invented_picture(shape, density, largest, random_));
      expect_same(shape, pictures, "density " + std::to_string(density));
    }
  }
}

TEST_P(SlicePackParity, NoiseAtTheFinestQuantiser) {
  for (const int slices : {1, 4}) {
    const Shape shape{112, 64, slices};
    std::vector<TestPicture> pictures;
    for (const Content content : {Content::noise, Content::half_noise, Content::small_values})
      pictures.push_back(coded_picture(shape, content, 0, random_));
    expect_same(shape, pictures, "noise");
  }
}

// More block-inputs than the 32 of a segment of GVLE's scan, so that it looks back over several.
TEST_P(SlicePackParity, ManySegmentsOfTheScan) {
  const Shape shape{1280, 400, 1};
  expect_same(shape, {invented_picture(shape, 6, 3, random_), invented_picture(shape, 1, 1, random_)},
              "many segments");
}

TEST_P(SlicePackParity, RandomBatches) {
  const auto between = [this](int first, int last) {
    return first + static_cast<int>(random_() % static_cast<unsigned>(last - first + 1));
  };
  for (int round = 0; round < 12; ++round) {
    const int width = between(1, 260), height = between(1, 150);
    const Shape shape{width, height, between(1, (height + 15) / 16), static_cast<PixelFormat>(between(0, 2)),
                      between(0, 3) == 0};
    std::vector<TestPicture> pictures;
    for (int i = between(1, 5); i > 0; --i) {
      pictures.push_back(
          invented_picture(shape, between(0, 3) == 0 ? 0 : between(1, 90), between(1, 300), random_));
      if (between(0, 3) == 0) sprinkle_pcm(pictures.back(), between(1, 20), random_);
    }
    expect_same(shape, pictures, "round " + std::to_string(round));
  }
}

INSTANTIATE_TEST_SUITE_P(Packers, SlicePackParity,
                         testing::Values(&entropy::kGvlePacker, &entropy::kYavlePacker),
                         [](const testing::TestParamInfo<const entropy::Packer*>& packer) {
                           return std::string(packer.param->name);
                         });

}  // namespace
}  // namespace cu264::parity
