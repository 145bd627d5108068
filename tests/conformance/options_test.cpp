// Slices, the loop filter, pixel formats and layouts of the input, and long sequences.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/conformance/stream_check.h"

namespace cu264::test {
namespace {

using Cell = std::tuple<Preset, int, bool>;
class Slices : public testing::TestWithParam<Cell> {};

TEST_P(Slices, DecodeToTheReconstruction) {
  const auto [preset, slices, deblock] = GetParam();
  const std::vector<Picture> pictures = make_all_contents(48, 98);  // 7 macroblock rows
  for (const int qp : {0, 12, 24, 33, 42}) {
    SCOPED_TRACE("QP " + std::to_string(qp));
    const Config config = make_config(qp, preset, slices, deblock);
    check_stream(config, encode(config, pictures), pictures);
  }
}

std::string cell_name(const testing::TestParamInfo<Cell>& cell) {
  return std::string(name_of(std::get<0>(cell.param))) + "_" + std::to_string(std::get<1>(cell.param)) +
         (std::get<2>(cell.param) ? "_filtered" : "_unfiltered");
}

INSTANTIATE_TEST_SUITE_P(Slices, Slices,
                         testing::Combine(testing::ValuesIn(kPresets), testing::Values(1, 2, 3, 5, 7),
                                          testing::Bool()),
                         cell_name);

TEST(LoopFilter, ChangesTheReconstructionAndNotTheMacroblocks) {
  const std::vector<Picture> pictures = {make_picture(Content::natural, 96, 96)};
  const EncodedStream on = encode(make_config(36, Preset::balanced, 2, true), pictures);
  const EncodedStream off = encode(make_config(36, Preset::balanced, 2, false), pictures);
  EXPECT_NE(difference(reconstruction_of(on, 0), reconstruction_of(off, 0)), "");
  EXPECT_EQ(on.packets[0].stats.residual_bits, off.packets[0].stats.residual_bits);
  EXPECT_EQ(on.packets[0].stats.header_bits, off.packets[0].stats.header_bits);
}

class InputLayout : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  const int width_ = GetParam().first;
  const int height_ = GetParam().second;
  const std::vector<Picture> pictures_ = {make_picture(Content::natural, width_, height_),
                                          make_picture(Content::noise, width_, height_)};
  const Config config_ = make_config(22, Preset::balanced);
  const EncodedStream plain_ = encode(config_, pictures_);
};

TEST_P(InputLayout, Nv12GivesTheSameBytes) {
  EXPECT_EQ(encode(config_, pictures_, PixelFormat::nv12).bytes(), plain_.bytes());
  EXPECT_EQ(encode(config_, pictures_, PixelFormat::nv12, 13).bytes(), plain_.bytes());
}

TEST_P(InputLayout, PaddedRowsGiveTheSameBytes) {
  EXPECT_EQ(encode(config_, pictures_, PixelFormat::i420, 7).bytes(), plain_.bytes());
}

TEST_P(InputLayout, GrayIsColourOf128) {
  std::vector<Picture> grey = pictures_;
  for (Picture& picture : grey) std::fill(picture.plane(1), picture.plane(3), std::uint8_t{128});
  const EncodedStream stream = encode(config_, pictures_, PixelFormat::gray8, 3);
  check_stream(config_, stream, pictures_);
  EXPECT_EQ(stream.bytes(), encode(config_, grey).bytes());
  const Picture decoded = reconstruction_of(stream, 0);
  for (const std::uint8_t* chroma = decoded.plane(1); chroma < decoded.plane(3); ++chroma)
    ASSERT_EQ(*chroma, 128);
}

TEST_P(InputLayout, NegativePitchReadsBottomUp) {
  Picture flipped(width_, height_);
  for (int p = 0; p < 3; ++p) {
    const int width = flipped.plane_width(p), height = flipped.plane_height(p);
    for (int y = 0; y < height; ++y) {
      std::copy_n(pictures_[0].plane(p) + (height - 1 - y) * width, width, flipped.plane(p) + y * width);
    }
  }
  const FrameBuffer buffer(flipped, PixelFormat::i420, 5);
  Frame frame = buffer.view();
  for (int p = 0; p < 3; ++p) {
    frame.plane[p] += frame.pitch[p] * (flipped.plane_height(p) - 1);
    frame.pitch[p] = -frame.pitch[p];
  }
  Config config = config_;
  config.width = width_, config.height = height_;
  Encoder encoder(config);
  ASSERT_TRUE(encoder.send(frame));
  encoder.flush();
  EXPECT_EQ(encoder.receive()->data, plain_.packets[0].data);
}

INSTANTIATE_TEST_SUITE_P(Sizes, InputLayout,
                         testing::Values(std::pair(64, 48), std::pair(33, 17), std::pair(1, 1),
                                         std::pair(50, 31)),
                         [](const testing::TestParamInfo<std::pair<int, int>>& size) {
                           return std::to_string(size.param.first) + "x" + std::to_string(size.param.second);
                         });

TEST(Sequence, FortyPicturesKeepTheirOrder) {
  std::vector<Picture> pictures;
  for (std::uint32_t i = 0; i < 40; ++i) pictures.push_back(make_picture(Content::natural, 64, 48, i));
  Config config = make_config(30, Preset::fast);
  config.threads = 3;
  const EncodedStream stream = encode(config, pictures);
  check_stream(config, stream, pictures);
  for (std::size_t i = 0; i < stream.packets.size(); ++i) {
    EXPECT_GT(luma_psnr(pictures[i], reconstruction_of(stream, i)), 30) << "picture " << i;
  }
}

// No picture depends on another.
TEST(Sequence, PicturesAreIndependent) {
  for (const Preset preset : kPresets) {
    const Config config = make_config(26, preset, 2);
    const Picture picture = make_picture(Content::natural, 80, 64);
    const EncodedStream among = encode(config, {make_picture(Content::noise, 80, 64), picture,
                                                make_picture(Content::opposites, 80, 64), picture});
    const EncodedStream alone = encode(config, {picture, picture});
    EXPECT_EQ(among.packets[1].data, alone.packets[1].data) << name_of(preset);
    EXPECT_EQ(among.packets[3].data, alone.packets[1].data) << name_of(preset);
    EXPECT_NE(alone.packets[0].data, alone.packets[1].data) << "idr_pic_id must differ";
  }
}

}  // namespace
}  // namespace cu264::test
