// Tests where parameter sets are, and what they say about colour, aspect ratio and timing.
#include <gtest/gtest.h>

#include <span>

#include "support/decode.h"
#include "tests/conformance/stream_check.h"

namespace cu264::test {
namespace {

std::vector<int> types_of(std::span<const std::uint8_t> bytes) {
  std::vector<int> types;
  for (const NalUnit& nal : split_annexb(bytes)) types.push_back(nal.nal_unit_type);
  return types;
}

class Placement : public testing::TestWithParam<HeaderPlacement> {
 protected:
  Placement() { config_.headers = GetParam(); }

  const std::vector<Picture> pictures_ = {make_picture(Content::natural, 48, 48, 1),
                                          make_picture(Content::natural, 48, 48, 2),
                                          make_picture(Content::natural, 48, 48, 3)};
  Config config_ = make_config(27, Preset::fast, 2);
};

TEST_P(Placement, PutsTheHeadersWhereItSays) {
  const EncodedStream stream = encode(config_, pictures_);
  check_stream(config_, stream, pictures_);
  EXPECT_EQ(types_of(stream.headers), (std::vector<int>{kNalSps, kNalPps, kNalSei}));
  const std::vector<int> bare = {kNalSliceIdr, kNalSliceIdr};
  for (std::size_t i = 0; i < stream.packets.size(); ++i) {
    std::vector<int> types = types_of(stream.packets[i].data);
    const bool expected = GetParam() == HeaderPlacement::every_packet ||
                          (GetParam() == HeaderPlacement::first_packet && i == 0);
    EXPECT_EQ(types.size() > 2 && types[0] == kNalSps && types[1] == kNalPps, expected) << "packet " << i;
    ASSERT_GE(types.size(), 2u);
    EXPECT_EQ(std::vector<int>(types.end() - 2, types.end()), bare) << "packet " << i;
    EXPECT_LE(types.size(), expected ? 5u : 2u) << "packet " << i;
  }
}

TEST_P(Placement, ChangesNoSlice) {
  const EncodedStream stream = encode(config_, pictures_);
  Config other = config_;
  other.headers = HeaderPlacement::separate;
  const EncodedStream bare = encode(other, pictures_);
  for (std::size_t i = 0; i < stream.packets.size(); ++i) {
    const auto& with = stream.packets[i].data;
    const auto nals = split_annexb(with), bare_nals = split_annexb(bare.packets[i].data);
    EXPECT_EQ(nals.back().rbsp, bare_nals.back().rbsp) << "packet " << i;
    EXPECT_EQ(nals[nals.size() - 2].rbsp, bare_nals[0].rbsp) << "packet " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Headers, Placement,
                         testing::Values(HeaderPlacement::first_packet, HeaderPlacement::every_packet,
                                         HeaderPlacement::separate),
                         [](const testing::TestParamInfo<HeaderPlacement>& placement) {
                           return placement.param == HeaderPlacement::first_packet   ? "first_packet"
                                  : placement.param == HeaderPlacement::every_packet ? "every_packet"
                                                                                     : "separate";
                         });

// With headers in every packet, a decoder can begin anywhere.
TEST(Headers, EveryPacketIsAnEntryPoint) {
  Config config = make_config(27, Preset::fast);
  config.headers = HeaderPlacement::every_packet;
  const std::vector<Picture> pictures = {make_picture(Content::natural, 33, 48, 1),
                                         make_picture(Content::natural, 33, 48, 2)};
  const EncodedStream stream = encode(config, pictures);
  const DecodedStream decoded = decode_annexb(stream.packets[1].data);
  EXPECT_TRUE(decoded.complaints.empty());
  ASSERT_EQ(decoded.pictures.size(), 1u);
  EXPECT_EQ(difference(reconstruction_of(stream, 1), decoded.pictures[0].picture), "");
}

TEST(Headers, TheSeiNamesTheEncoderAndItsSettings) {
  const std::vector<Picture> pictures = {make_picture(Content::flat128, 16, 16)};
  const Config config = make_config(31, Preset::best);
  const WalkedStream walked = check_stream(config, encode(config, pictures), pictures);
  ASSERT_EQ(walked.user_data.size(), 1u);
  EXPECT_EQ(walked.user_data[0].rfind("cu264 ", 0), 0u) << walked.user_data[0];
  EXPECT_NE(walked.user_data[0].find("31"), std::string::npos) << walked.user_data[0];
}

struct Shape {
  const char* name;
  Rational sar;
  Rational frame_rate;
  bool fixed;
  Colour colour;
};

class Vui : public testing::TestWithParam<Shape> {};

TEST_P(Vui, IsReadBackByParserAndDecoder) {
  const Shape& shape = GetParam();
  Config config = make_config(40, Preset::fast);
  config.sample_aspect_ratio = shape.sar;
  config.frame_rate = shape.frame_rate, config.fixed_frame_rate = shape.fixed;
  config.colour = shape.colour;
  const std::vector<Picture> pictures = {make_picture(Content::natural, 48, 32)};
  const EncodedStream stream = encode(config, pictures);
  const WalkedStream walked = check_stream(config, stream, pictures);
  const auto& vui = walked.sps.vui;
  EXPECT_EQ(vui.sar_num * shape.sar.den, shape.sar.num * vui.sar_den);
  EXPECT_EQ(vui.fixed_frame_rate, shape.fixed);
  EXPECT_EQ(vui.primaries, shape.colour.primaries);
  EXPECT_EQ(vui.transfer, shape.colour.transfer);
  EXPECT_EQ(vui.matrix, shape.colour.matrix);
  EXPECT_EQ(vui.full_range, shape.colour.full_range);

  const DecodedStream decoded = decode_annexb(stream.bytes());
  EXPECT_EQ(decoded.sar_num * shape.sar.den, shape.sar.num * decoded.sar_den);
  EXPECT_EQ(decoded.primaries, shape.colour.primaries);
  EXPECT_EQ(decoded.transfer, shape.colour.transfer);
  EXPECT_EQ(decoded.matrix, shape.colour.matrix);
  EXPECT_EQ(decoded.full_range, shape.colour.full_range);
  EXPECT_EQ(static_cast<std::int64_t>(decoded.frame_rate_num) * shape.frame_rate.den,
            static_cast<std::int64_t>(shape.frame_rate.num) * decoded.frame_rate_den);
}

constexpr Colour kBt709{1, 1, 1, false};
constexpr Colour kBt601Full{6, 6, 6, true};

INSTANTIATE_TEST_SUITE_P(Headers, Vui,
                         testing::Values(Shape{"plain", {0, 1}, {25, 1}, true, {}},
                                         Shape{"bt709", {1, 1}, {30000, 1001}, true, kBt709},
                                         Shape{"pal", {12, 11}, {50, 1}, true, {5, 6, 5, false}},
                                         Shape{"full_range", {0, 1}, {60, 1}, true, kBt601Full},
                                         Shape{"only_range", {0, 1}, {24, 1}, true, {2, 2, 2, true}},
                                         Shape{"extended_sar", {511, 500}, {24000, 1001}, true, kBt709},
                                         Shape{"unreduced_sar", {32, 22}, {15, 1}, true, {}},
                                         Shape{"variable", {1, 1}, {1000, 1}, false, {9, 16, 9, false}},
                                         Shape{"slow", {2, 1}, {1, 10}, true, {}}),
                         [](const testing::TestParamInfo<Shape>& shape) {
                           return std::string(shape.param.name);
                         });

}  // namespace
}  // namespace cu264::test
