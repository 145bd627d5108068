// The stages `code` and `pack` on the GPU give the bytes of the CPU's slice coder and NAL writer for batches
// that have P pictures.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/pack/published/gvle_packer.h"
#include "tests/parity/device_test.h"
#include "tests/parity/p_pictures.h"
#include "tests/parity/pack_runner.h"
#include "tests/parity/packed_checks.h"
#include "tests/support/error_of.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

std::vector<core::SliceHeaderBits> headers_of(const Shape& shape, const std::vector<TestPicture>& pictures) {
  std::vector<core::PictureParams> params(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    params[i].qp = static_cast<std::uint8_t>((27 + 11 * i) % 52);
    params[i].key = !pictures[i].coded.inter;
    params[i].frame_num = static_cast<std::uint8_t>(i % 16);
    params[i].deblock = i % 3 != 2;
  }
  return slice_headers(shape, params);
}

class PackPParity : public DeviceTest, public testing::WithParamInterface<const entropy::Packer*> {
 protected:
  static void expect_parity(const Shape& shape, std::vector<TestPicture> pictures, const std::string& what) {
    const std::vector<core::SliceHeaderBits> headers = headers_of(shape, pictures);
    std::vector<ExpectedPicture> wanted;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      wanted.push_back(
          cavlc_picture(pictures[i], headers.data() + i * static_cast<std::size_t>(shape.slices)));
    }
    expect_packed(pack_on_device(shape, pictures, headers, 2, 0, nullptr, GetParam()), wanted, shape, what);
  }

  void expect_parity_of_invented(const Shape& shape, const PContent& content, int count,
                                 const std::string& what) {
    expect_parity(shape, invented_gop(shape, content, count, random_), what);
  }

  std::mt19937 random_{264};
};

TEST_P(PackPParity, Clips) {
  on_coded_clips(false, expect_parity);
}

TEST_P(PackPParity, InventedPictures) {
  on_invented_pictures({0, 2, 40, 2000, 32767}, random_, expect_parity);
}

TEST_P(PackPParity, SmallPictures) {
  on_small_pictures(random_, expect_parity);
}

// Runs of P_Skip over many groups, of which some have no bits, or so few that several share a byte.
TEST_P(PackPParity, Skips) {
  for (const int slices : {1, 3}) {
    const Shape shape{400, test::quick() ? 96 : 208, slices};
    for (const int skips : {0, 128, 240, 252, 254, 255, 256}) {
      for (const int density : {0, 20}) {
        PContent content;
        content.skips = skips, content.runs = skips == 128;
        content.mvd = 1, content.density = density, content.intra = 10;
        ASSERT_NO_FATAL_FAILURE(expect_parity_of_invented(
            shape, content, 4,
            std::to_string(skips) + " of 256 skipped, density " + std::to_string(density)));
      }
    }
  }
}

// A group of five bits between groups of few: a byte has bits of three, and more of them have none.
TEST_P(PackPParity, GroupsOfFewBits) {
  for (const int skips : {0, 60, 160}) {
    for (const int intra : {0, 40}) {
      const Shape shape{512, test::quick() ? 256 : 720, 1};
      PContent content;
      content.at_ends = true, content.skips = skips, content.intra = intra, content.density = 0;
      content.mvd = 2;
      ASSERT_NO_FATAL_FAILURE(
          expect_parity_of_invented(shape, content, 6, std::to_string(skips) + " of 256 skipped"));
    }
  }
}

// The codes of two components of mvd_l0 have up to 28 zeros in a row between them.
TEST_P(PackPParity, ZerosThatNeedEscapes) {
  for (const int skips : {0, 100, 220}) {
    const Shape shape{336, test::quick() ? 96 : 208, 1 + static_cast<int>(random_() % 4)};
    PContent content;
    content.powers = true, content.skips = skips, content.density = skips == 0 ? 1 : 12;
    ASSERT_NO_FATAL_FAILURE(
        expect_parity_of_invented(shape, content, 5, std::to_string(skips) + " of 256 skipped"));
  }
}

// So many that a warp writes several groups, and that groups are scanned in several parts.
TEST_P(PackPParity, ManyGroups) {
  const Shape shape{33 * 16, 68 * 16, 68}, one_slice{2048, test::quick() ? 128 : 2160, 1};
  std::vector<TestPicture> pictures, large;
  for (int i = 0; i < (test::quick() ? 2 : 40); ++i) {
    PContent content;
    content.skips = 32 * (i % 9), content.density = 2 * i;
    pictures.push_back(invented_p_picture(shape, content, random_));
  }
  ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, "many groups"));
  for (const int skips : {200, 255, 256}) {
    PContent content;
    content.skips = skips, content.runs = true, content.density = 4;
    large.push_back(invented_p_picture(one_slice, content, random_));
  }
  ASSERT_NO_FATAL_FAILURE(expect_parity(one_slice, large, "one large slice"));
}

TEST_P(PackPParity, PcmAmongOthersAndAlone) {
  for (const int one_in : {1, 2, 10}) {
    for (const int skips : {0, 30, 200}) {
      const Shape shape{205, 73, 1 + static_cast<int>(random_() % 4), PixelFormat::nv12};
      PContent content;
      content.pcm_in = one_in, content.skips = skips;
      ASSERT_NO_FATAL_FAILURE(
          expect_parity_of_invented(shape, content, 3, "one I_PCM in " + std::to_string(one_in)));
    }
  }
}

TEST_P(PackPParity, KernelsAreRefused) {
  const Shape shape{32, 32, 1};
  const std::vector<TestPicture> pictures{invented_p_picture(shape, {}, random_)};
  test::error_of(ErrorCode::unsupported, [&] {
    pack_on_device(shape, pictures, headers_of(shape, pictures), 1, 0, &entropy::kCavlcu, GetParam());
  });
}

INSTANTIATE_TEST_SUITE_P(Packers, PackPParity,
                         testing::Values(static_cast<const entropy::Packer*>(nullptr), &entropy::kGvlePacker),
                         [](const testing::TestParamInfo<const entropy::Packer*>& packer) {
                           return std::string(packer.param != nullptr ? packer.param->name : "production");
                         });

}  // namespace
}  // namespace cu264::parity
