// CABAC on the GPU gives the bytes of the CPU's slice coder and NAL writer for batches that have P pictures.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

  // With pictures of any QP.
  CheckBatch at_any_qp() {
    return [this](const Shape& shape, std::vector<TestPicture> pictures, const std::string& what) {
      expect_parity(shape, std::move(pictures), static_cast<int>(random_() % 52), what);
    };
  }
  void expect_parity_of_invented(const Shape& shape, const PContent& content, int count,
                                 const std::string& what) {
    at_any_qp()(shape, invented_gop(shape, content, count, random_), what);
  }

  std::mt19937 random_{264};
};

TEST_F(CabacPParity, Clips) {
  on_coded_clips(true, at_any_qp());
}

TEST_F(CabacPParity, InventedPictures) {
  on_invented_pictures({0, 2, 40, 2000}, random_, at_any_qp());
}

TEST_F(CabacPParity, SmallPictures) {
  on_small_pictures(random_, at_any_qp());
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
