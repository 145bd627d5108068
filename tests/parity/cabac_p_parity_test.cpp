// CABAC on the GPU gives the bytes of the CPU's slice coder and NAL writer for batches that have P pictures.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/quant.h"
#include "tests/parity/cabac_runner.h"
#include "tests/parity/device_test.h"
#include "tests/parity/p_pictures.h"
#include "tests/parity/packed_checks.h"
#include "tests/support/quick.h"

namespace cu264::parity {
namespace {

class CabacPParity : public DeviceTest {
 protected:
  static void expect_parity(const Shape& shape, std::vector<TestPicture> pictures, int first_qp,
                            const std::string& what) {
    std::vector<core::PictureParams> params;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      core::PictureParams& picture = params.emplace_back();
      picture.qp = static_cast<std::uint8_t>((static_cast<std::size_t>(first_qp) + 11 * i) % 52);
      picture.key = !pictures[i].coded.inter;
      picture.frame_num = static_cast<std::uint8_t>(i % 16);
      picture.cabac_init_idc = static_cast<std::uint8_t>(i % 3);
      picture.deblock = i % 3 != 2;
    }
    const std::vector<core::SliceHeaderBits> headers = slice_headers(shape, params, true);
    std::vector<ExpectedPicture> wanted;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      wanted.push_back(
          cabac_picture(pictures[i], headers.data() + i * static_cast<std::size_t>(shape.slices), params[i]));
    }
    expect_packed(code_cabac_on_device(shape, pictures, params, headers), wanted, shape, what);
  }

  // P pictures with a key picture among them.
  void expect_parity_of_invented(const Shape& shape, const PContent& content, int count,
                                 const std::string& what) {
    std::vector<TestPicture> pictures;
    for (int i = 0; i < count; ++i) {
      pictures.push_back(i == 1 ? invented_picture(shape, content.density, content.largest, random_)
                                : invented_p_picture(shape, content, random_));
    }
    expect_parity(shape, std::move(pictures), static_cast<int>(random_() % 52), what);
  }

  std::mt19937 random_{264};
};

TEST_F(CabacPParity, Clips) {
  test::QuickCases cases(7);
  for (const test::Motion motion : test::kMotions) {
    for (const Shape& shape : {Shape{64, 48, 1}, Shape{112, 96, 3, PixelFormat::i420, true}}) {
      for (const int qp : {12, 27, 44}) {
        if (cases.leave_out()) continue;
        const Preset preset = qp == 27 ? Preset::balanced : Preset::fast;
        ASSERT_NO_FATAL_FAILURE(
            expect_parity(shape, coded_clip(shape, motion, test::quick() ? 3 : 6, qp, preset, true), qp,
                          std::string(test::name_of(motion)) + ", QP " + std::to_string(qp)));
      }
    }
  }
}

TEST_F(CabacPParity, InventedPictures) {
  test::QuickCases cases(5);
  for (const int mvd : {0, 2, 40, 2000}) {
    for (const int density : {0, 6, 60, 256}) {
      for (const bool large_transform : {false, true}) {
        if (cases.leave_out()) continue;
        const int rows = test::quick() ? 3 : 13;
        const Shape shape{test::quick() ? 128 : 400, 16 * rows, 1 + static_cast<int>(random_() % rows),
                          PixelFormat::i420, large_transform};
        PContent content;
        content.mvd = mvd, content.density = density;
        content.largest = mvd == 40 ? core::kMaxLevel : 9;
        content.intra = mvd == 2 ? 128 : 20;
        content.pcm_in = density == 6 ? 20 : 0;
        ASSERT_NO_FATAL_FAILURE(expect_parity_of_invented(
            shape, content, 5, "mvd " + std::to_string(mvd) + ", density " + std::to_string(density)));
      }
    }
  }
}

TEST_F(CabacPParity, SmallPictures) {
  for (const Shape& shape : {Shape{16, 16, 1}, Shape{18, 34, 1}, Shape{16, 80, 5}, Shape{80, 16, 1}}) {
    PContent content;
    content.mvd = 300;
    ASSERT_NO_FATAL_FAILURE(expect_parity_of_invented(shape, content, 6, "small"));
  }
}

// Pictures of P_Skip alone among others, and long runs of it.
TEST_F(CabacPParity, Skips) {
  for (const int slices : {1, 3}) {
    const Shape shape{208, 80, slices};
    for (const int skips : {0, 128, 250, 256}) {
      PContent content;
      content.skips = skips, content.runs = skips == 128;
      ASSERT_NO_FATAL_FAILURE(
          expect_parity_of_invented(shape, content, 4, std::to_string(skips) + " of 256 skipped"));
    }
  }
}

TEST_F(CabacPParity, PcmAmongOthersAndAlone) {
  for (const int one_in : {1, 2, 10}) {
    const Shape shape{105, 73, 1 + static_cast<int>(random_() % 4), PixelFormat::nv12};
    PContent content;
    content.pcm_in = one_in, content.skips = one_in == 1 ? 0 : 30;
    ASSERT_NO_FATAL_FAILURE(
        expect_parity_of_invented(shape, content, 3, "one I_PCM in " + std::to_string(one_in)));
  }
}

// Batches of P pictures without a key picture, of one picture, and of many slices.
TEST_F(CabacPParity, BatchesOfAllKinds) {
  const Shape shape{48, 160, 10};
  std::vector<TestPicture> pictures;
  for (int i = 0; i < (test::quick() ? 4 : 40); ++i) {
    PContent content;
    content.skips = 32 * (i % 8), content.mvd = 1 + 50 * (i % 20), content.density = 3 * i;
    pictures.push_back(invented_p_picture(shape, content, random_));
  }
  ASSERT_NO_FATAL_FAILURE(expect_parity(shape, pictures, 30, "many slices"));
  ASSERT_NO_FATAL_FAILURE(expect_parity(shape, {pictures[1]}, 20, "one picture"));
}

}  // namespace
}  // namespace cu264::parity
