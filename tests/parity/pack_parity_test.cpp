// The stages `code` and `pack` on the GPU give the bytes of the CPU's slice coder and NAL writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "core/mb_syntax.h"
#include "core/quant.h"
#include "core/slice_header.h"
#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/pack/published/gvle_packer.h"
#include "tests/parity/coded_pictures.h"
#include "tests/parity/device_test.h"
#include "tests/parity/pack_runner.h"
#include "tests/parity/packed_checks.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

using core::SliceHeaderBits;

// The parameters of each picture differ from those of the picture before.
std::vector<SliceHeaderBits> slice_headers(const Shape& shape, std::size_t pictures) {
  std::vector<core::PictureParams> params(pictures);
  for (std::size_t i = 0; i < pictures; ++i) {
    params[i].qp = static_cast<std::uint8_t>((27 + 11 * i) % 52);
    params[i].idr_pic_id = static_cast<std::uint8_t>(i / 2 % 2);
    params[i].deblock = i % 3 != 2;
  }
  return slice_headers(shape, params);
}

// The expected bytes and statistics of the batch's picture number `index`.
ExpectedPicture expected(TestPicture& picture, const std::vector<SliceHeaderBits>& headers,
                         std::size_t index) {
  return cavlc_picture(picture, headers.data() + index * static_cast<std::size_t>(picture.coded.slices));
}

// How a batch is coded and packed; null: by the production form.
struct PackForm {
  const char* name;
  const entropy::EntropyKernel* kernel = nullptr;
  const entropy::Packer* packer = nullptr;
};

// Runs for every kernel that an encoder can code with, and every packer.
class PackParity : public DeviceTest, public testing::WithParamInterface<PackForm> {
 protected:
  static std::vector<PackedBatch> pack(const Shape& shape, const std::vector<TestPicture>& pictures,
                                       const std::vector<SliceHeaderBits>& headers, int repeats,
                                       std::uint64_t capacity = 0) {
    return pack_on_device(shape, pictures, headers, repeats, capacity, GetParam().kernel, GetParam().packer);
  }

  void expect_parity(const Shape& shape, std::vector<TestPicture>& pictures, const std::string& what) {
    expect_parity(shape, pictures, slice_headers(shape, pictures.size()), what);
  }

  void expect_parity(const Shape& shape, std::vector<TestPicture>& pictures,
                     const std::vector<SliceHeaderBits>& headers, const std::string& what) {
    std::vector<ExpectedPicture> wanted;
    for (TestPicture& picture : pictures) {
      wanted.push_back(expected(picture, headers, wanted.size()));
    }
    expect_packed(pack(shape, pictures, headers, 3), wanted, shape, what);
  }

  std::mt19937 random_{264};
};

TEST_P(PackParity, CodedPictures) {
  const Content contents[] = {Content::flat,  Content::ramp,       Content::texture,
                              Content::noise, Content::half_noise, Content::small_values};
  const Shape shapes[] = {{16, 16, 1}, {18, 34, 1}, {96, 96, 2}, {352, 288, 5}, {640, 16, 1}, {64, 320, 20}};
  for (const Shape& shape : shapes) {
    for (const int qp : {0, 5, 20, 27, 40, 51}) {
      std::vector<TestPicture> pictures;
      for (const Content content : contents) pictures.push_back(coded_picture(shape, content, qp, random_));
      ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "QP " + std::to_string(qp)));
    }
  }
}

TEST_P(PackParity, BatchesOfLargePictures) {
  for (const int pictures_in_batch : {1, 3}) {
    for (const int slices : {1, 5, 68}) {
      const Shape shape{1920, 1088, slices};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < pictures_in_batch; ++i) {
        pictures.push_back(coded_picture(shape, Content::texture, 20 + 7 * i, random_));
      }
      ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "texture"));
    }
  }
}

TEST_P(PackParity, InventedPictures) {
  test::QuickCases cases(3);
  for (const int density : {0, 3, 30, 120, 256}) {
    for (const int largest : {1, 2, 40, core::kMaxLevel}) {
      if (cases.leave_out()) continue;
      const Shape shape{336, 208, 1 + static_cast<int>(random_() % 13)};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 17; ++i) pictures.push_back(invented_picture(shape, density, largest, random_));
      ASSERT_NO_FATAL_FAILURE(expect_parity(
          shape, pictures, "density " + std::to_string(density) + " largest " + std::to_string(largest)));
    }
  }
}

TEST_P(PackParity, LargeTransform) {
  for (const int qp : {0, 20, 36}) {
    const Shape shape{96, 80, 2, PixelFormat::i420, true};
    std::vector<TestPicture> pictures;
    for (const Content content : {Content::ramp, Content::texture, Content::noise}) {
      pictures.push_back(coded_picture(shape, content, qp, random_));
    }
    ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "QP " + std::to_string(qp)));
  }
  for (const int density : {0, 30, 256}) {
    for (const int largest : {1, core::kMaxLevel}) {
      const Shape shape{112, 96, 1 + static_cast<int>(random_() % 6), PixelFormat::i420, true};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 2; ++i) pictures.push_back(invented_picture(shape, density, largest, random_));
      sprinkle_pcm(pictures[1], 8, random_);
      ASSERT_NO_FATAL_FAILURE(expect_parity(
          shape, pictures, "density " + std::to_string(density) + " largest " + std::to_string(largest)));
    }
  }
}

// One or two blocks in a group have levels whose codes end in seven to nine zeros, followed by levels whose
// codes begin with fifteen. From the highest frequency down, these are the first level that takes an escape
// at each suffixLength, plus 64, 128 or 256.
TEST_P(PackParity, ZerosThatNeedEscapes) {
  constexpr int kLevels[] = {17, 31, 61, 121, 241, 481};
  for (const int density : {12, 25, 50, 200}) {
    const Shape shape{336, 208, 1 + static_cast<int>(random_() % 4)};
    std::vector<TestPicture> pictures;
    for (int i = 0; i < 40; ++i) {
      TestPicture& picture = pictures.emplace_back(invented_picture(shape, density, 2, random_));
      std::vector<std::int16_t>& levels = picture.coded.levels;
      for (std::size_t block = 0; block < levels.size(); block += core::kLevelsPerBlock) {
        if (random_() % 400 != 0) continue;
        const int more = 64 << random_() % 3;
        std::size_t count = 0;
        for (int k = core::kLevelsPerBlock - 1; k >= 0; --k) {
          std::int16_t& level = levels[block + static_cast<std::size_t>(k)];
          if (level == 0) continue;
          level = static_cast<std::int16_t>(kLevels[std::min(count++, std::size(kLevels) - 1)] + more);
        }
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "density " + std::to_string(density)));
  }
}

// There are so many groups that a warp takes two, and then four. Each slice has a group of 32 macroblocks and
// a group of one.
TEST_P(PackParity, ManyGroups) {
  const Shape shape{33 * 16, 68 * 16, 68};
  for (const std::size_t count : {35, 125}) {
    std::vector<TestPicture> pictures;
    for (int i = 0; i < 5; ++i) pictures.push_back(invented_picture(shape, 2 * i * i, 1 + 3 * i, random_));
    sprinkle_pcm(pictures.back(), 30, random_);
    for (std::size_t i = 0; pictures.size() < count; ++i) pictures.push_back(TestPicture(pictures[i]));
    ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "many groups"));
  }
}

TEST_P(PackParity, PcmAmongOthersAndAlone) {
  for (const PixelFormat format : {PixelFormat::i420, PixelFormat::nv12, PixelFormat::gray8}) {
    for (const int one_in : {1, 2, 10, 100}) {
      const Shape shape{333, 205, 1 + static_cast<int>(random_() % 13), format};
      std::vector<TestPicture> pictures;
      for (int i = 0; i < 3; ++i) {
        pictures.push_back(invented_picture(shape, 4 + 20 * i, 9, random_));
        sprinkle_pcm(pictures.back(), one_in, random_);
      }
      ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "one I_PCM in " + std::to_string(one_in)));
    }
  }
}

// With a header of 7 bits, 512 I_PCM macroblocks of 16 + 3072 bits fill whole tiles of 8192 bits, so that the
// last tile holds the trailing bits alone; with longer headers it holds little more.
TEST_P(PackParity, HeadersOfEveryLength) {
  const Shape shape{512, 256, 1};
  std::vector<TestPicture> pictures;
  pictures.push_back(invented_picture(shape, 0, 1, random_));
  sprinkle_pcm(pictures.back(), 1, random_);
  for (int length = 1; length <= 64; ++length) {
    const std::uint64_t bits = 0x5a5a0f0f81c3ffe7u >> (64 - length);
    ASSERT_NO_FATAL_FAILURE(
        expect_parity(shape, pictures, {{bits, length}}, "header of " + std::to_string(length)));
  }
}

// The memory for the stream is too small: the pictures that fit are complete, and the others report a
// failure.
TEST_P(PackParity, CapacityIsRespected) {
  const Shape shape{320, 160, 3};
  std::vector<TestPicture> pictures;
  for (int i = 0; i < 4; ++i) pictures.push_back(coded_picture(shape, Content::noise, 20, random_));
  const std::vector<SliceHeaderBits> headers = slice_headers(shape, pictures.size());
  const ExpectedPicture first = expected(pictures[0], headers, 0), second = expected(pictures[1], headers, 1);
  const std::uint64_t two = first.bytes.size() + second.bytes.size();
  for (const std::uint64_t capacity : {two, two - 1}) {
    const PackedBatch run = pack(shape, pictures, headers, 1, capacity).front();
    EXPECT_EQ(run.pictures[0].failure, 0u);
    EXPECT_EQ(run.pictures[1].failure, capacity == two ? 0u : 1u);
    EXPECT_EQ(run.pictures[2].failure, 1u);
    EXPECT_EQ(run.pictures[3].failure, 1u);
    ASSERT_GE(run.stream.size(), first.bytes.size());
    EXPECT_TRUE(std::equal(first.bytes.begin(), first.bytes.end(), run.stream.begin()));
  }
}

// A macroblock above the limit of bits is reported and not written.
TEST_P(PackParity, TooManyBitsAreReported) {
  const Shape shape{96, 96, 2};
  std::vector<TestPicture> pictures;
  for (int i = 0; i < 3; ++i) pictures.push_back(coded_picture(shape, Content::texture, 30, random_));
  encoder::CpuPicture& broken = pictures[1].coded;
  broken.macroblocks[7] = core::MacroblockRecord{};
  broken.macroblocks[7].coded_block_pattern = 47;
  broken.macroblocks[7].nonzero_blocks = 0x7fffffe;
  for (int slot = 1; slot < core::kBlocksPerMacroblock; ++slot) {
    const int count = core::slot_max_num_coeff(broken.macroblocks[7], slot);
    broken.total_coeff[7 * core::kTotalCoeffStride + slot] = static_cast<std::uint8_t>(count);
    std::int16_t* const levels =
        broken.levels.data() + 7 * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
    std::fill(levels, levels + count, std::int16_t{core::kMaxLevel});
  }
  const PackedBatch run = pack(shape, pictures, slice_headers(shape, pictures.size()), 1).front();
  EXPECT_EQ(run.pictures[0].failure, 0u);
  EXPECT_EQ(run.pictures[1].failure, 2u);
  EXPECT_EQ(run.pictures[2].failure, 0u);
}

std::string form_name(const testing::TestParamInfo<PackForm>& form) {
  return form.param.name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, PackParity,
                         testing::Values(PackForm{"production"}, PackForm{"cavlcu", &entropy::kCavlcu},
                                         PackForm{"cavlcu_tuned", &entropy::kCavlcuTuned},
                                         PackForm{"cavlc_su", &entropy::kCavlcSu}),
                         form_name);

// The first two have GVLE's packer take the codes of blocks, the others the bits of groups.
INSTANTIATE_TEST_SUITE_P(Gvle, PackParity,
                         testing::Values(PackForm{"cavlcu", &entropy::kCavlcu, &entropy::kGvlePacker},
                                         PackForm{"cavlcu_tuned", &entropy::kCavlcuTuned,
                                                  &entropy::kGvlePacker},
                                         PackForm{"production", nullptr, &entropy::kGvlePacker},
                                         PackForm{"cavlc_su", &entropy::kCavlcSu, &entropy::kGvlePacker}),
                         form_name);

}  // namespace
}  // namespace cu264::parity
