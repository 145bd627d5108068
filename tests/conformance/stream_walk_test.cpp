// Tests of the checks themselves: a damaged stream is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/decode.h"
#include "tests/conformance/stream_check.h"

namespace cu264::test {
namespace {

EncodedStream good_stream() {
  return encode(make_config(20, Preset::fast, 2),
                {make_picture(Content::natural, 64, 64, 1), make_picture(Content::natural, 64, 64, 2)});
}

void expect_refused(const std::vector<std::uint8_t>& bytes, const std::string& why) {
  try {
    walk_stream(bytes);
    ADD_FAILURE() << "accepted: " << why;
  } catch (const StreamError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

TEST(StreamWalk, AcceptsAGoodStream) {
  const EncodedStream stream = good_stream();
  int macroblocks = 0;
  const WalkedStream walked = walk_stream(stream.bytes(), [&](const WalkedMacroblock&) { ++macroblocks; });
  EXPECT_EQ(macroblocks, 2 * 16);
  EXPECT_EQ(walked.nal_unit_types, (std::vector<int>{7, 8, 6, 5, 5, 5, 5}));
}

TEST(StreamWalk, RefusesMissingSlices) {
  EncodedStream stream = good_stream();
  stream.packets[0].data.vector().resize(stream.packets[0].data.size() / 2);
  EXPECT_THROW(walk_stream(stream.bytes()), StreamError);
}

TEST(StreamWalk, RefusesRepeatedIdrPicId) {
  EncodedStream stream = good_stream();
  stream.packets.erase(stream.packets.begin() + 1);
  std::vector<std::uint8_t> bytes = stream.bytes();
  const PacketBytes& again = stream.packets[0].data;
  bytes.insert(bytes.end(), again.begin(), again.end());
  expect_refused(bytes, "idr_pic_id");
}

TEST(StreamWalk, RefusesStartCodeEmulation) {
  const std::vector<std::uint8_t> emulation = {0, 0, 0, 1, 0x67, 66, 0xc0, 0, 0, 2, 0x80};
  expect_refused(emulation, "emulation");
  const std::vector<std::uint8_t> needless = {0, 0, 0, 1, 0x67, 66, 0xc0, 0, 0, 3, 4, 0x80};
  expect_refused(needless, "prevents nothing");
}

// Almost every flipped bit of the slices is noticed by the parser or by libavcodec, or changes the picture.
TEST(StreamWalk, FlippedBitsAreSeen) {
  const EncodedStream stream = good_stream();
  const std::vector<std::uint8_t> bytes = stream.bytes();
  const std::size_t first = bytes.size() - stream.packets[1].data.size();
  int tried = 0, seen = 0;
  for (std::size_t at = first + 8; at < bytes.size(); at += bytes.size() / 97 + 1) {
    std::vector<std::uint8_t> spoilt = bytes;
    spoilt[at] ^= static_cast<std::uint8_t>(1 << at % 8);
    ++tried;
    try {
      walk_stream(spoilt);
      const DecodedStream decoded = decode_annexb(spoilt);
      seen += !decoded.complaints.empty() || decoded.pictures.size() != 2 ||
              !difference(reconstruction_of(stream, 1), decoded.pictures[1].picture).empty();
    } catch (const StreamError&) {
      ++seen;
    }
  }
  ASSERT_GT(tried, 20);
  EXPECT_GE(seen, tried - 2) << "of " << tried;
}

TEST(Decoder, TellsPicturesApart) {
  const EncodedStream stream = good_stream();
  const DecodedStream decoded = decode_annexb(stream.bytes());
  EXPECT_TRUE(decoded.complaints.empty());
  ASSERT_EQ(decoded.pictures.size(), 2u);
  EXPECT_EQ(difference(reconstruction_of(stream, 0), decoded.pictures[0].picture), "");
  EXPECT_NE(difference(reconstruction_of(stream, 0), decoded.pictures[1].picture), "");
}

TEST(Decoder, RejectsGarbage) {
  EncodedStream stream = good_stream();
  std::vector<std::uint8_t>& data = stream.packets[1].data.vector();
  std::fill(data.begin() + static_cast<std::ptrdiff_t>(data.size() / 2), data.end(), std::uint8_t{0x55});
  EXPECT_FALSE(decode_annexb(stream.bytes()).complaints.empty());
}

}  // namespace
}  // namespace cu264::test
