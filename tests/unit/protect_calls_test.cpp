// Streams that come in several calls, cut between any two NAL units.
#include <gtest/gtest.h>

#include <functional>

#include "protect/nal_tool.h"
#include "tests/unit/small_stream.h"

namespace cu264::test {
namespace {

// The pieces of a stream, each with the units up to one of `ends`.
std::vector<Bytes> pieces_of(const Bytes& stream, const std::function<bool(std::size_t unit)>& ends) {
  const bitstream::NalUnits found = bitstream::split_annexb(stream);
  std::vector<Bytes> pieces(1);
  for (std::size_t i = 0; i < found.units.size(); ++i) {
    for (const ByteSpan part : {found.units[i].prefix, found.units[i].unit})
      pieces.back().insert(pieces.back().end(), part.begin(), part.end());
    if (ends(i)) pieces.emplace_back();
  }
  pieces.back().insert(pieces.back().end(), found.tail.begin(), found.tail.end());
  return pieces;
}

void append(Bytes& out, const Bytes& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// All that the tool returns, call after call.
Bytes run_pieces(StreamTool& tool, const std::vector<Bytes>& pieces) {
  Bytes out;
  for (const Bytes& piece : pieces) append(out, tool.access_units(piece));
  append(out, tool.last_units());
  tool.finish();
  return out;
}

TEST(ProtectCalls, SlicesInCallsOfTheirOwnGiveTheSameBytes) {
  const Bytes stream = encoded(48, 64, 4, 20, 4);
  const auto each = pieces_of(stream, [](std::size_t) { return true; });
  const auto third = pieces_of(stream, [](std::size_t unit) { return unit % 3 == 0; });
  for (const auto& pieces : {each, third}) {
    for (const int threads : {1, 3}) {
      for (const bool authenticate : {false, true}) {
        const auto tool = make_encryptor(test_key(), {encryption_strength(3), authenticate});
        tool->set_threads(threads);
        const Bytes sealed = run_pieces(*tool, pieces);
        EXPECT_EQ(run_tool(*make_decryptor(test_key()), sealed).stream, stream);
      }
    }
    const Bytes hiding = run_pieces(*make_hider(test_key(), Bytes{9}), pieces);
    EXPECT_EQ(run_tool(*make_hidden_reader(test_key()), hiding).payload, Bytes{9});
  }
}

// A large unit before the first of two slices, each in a call of its own: what is put before the picture goes
// where the picture begins, not where it began in the first call's output.
TEST(ProtectCalls, FillerBeforeASplitPicture) {
  const Bytes stream = encoded(48, 64, 3, 20, 2);
  Bytes filled;
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(stream).units) {
    if (nal.type() == bitstream::kNalSliceIdr) {
      append(filled, {0, 0, 0, 1, 12});
      append(filled, Bytes(4096, 0xff));
      filled.push_back(0x80);
    }
    filled.insert(filled.end(), nal.prefix.begin(), nal.prefix.end());
    filled.insert(filled.end(), nal.unit.begin(), nal.unit.end());
  }
  const auto tool = make_encryptor(test_key(), {{}, true});
  const Bytes sealed = run_pieces(*tool, pieces_of(filled, [](std::size_t) { return true; }));
  EXPECT_EQ(run_tool(*make_decryptor(test_key(), {true}), sealed).stream, filled);
}

// Until a picture is whole nothing of it is returned; then all of it, and what lay before it.
TEST(ProtectCalls, UnfinishedPicturesAreHeld) {
  const Bytes stream = encoded(32, 32, 1, 20, 2);
  const auto pieces = pieces_of(stream, [&](std::size_t unit) {
    return unit + 2 == bitstream::split_annexb(stream).units.size();  // before the last slice
  });
  const auto tool = make_encryptor(test_key(), {{}, true});
  EXPECT_TRUE(tool->access_units(pieces[0]).empty());
  EXPECT_GT(tool->access_units(pieces[1]).size(), stream.size());
  const auto cut = make_encryptor(test_key(), {{}, true});
  cut->access_units(pieces[0]);
  EXPECT_THROW(cut->finish(), Error);
}

// Pictures are numbered with 32 bits in the keystream's counter.
TEST(ProtectCalls, PicturesThatWouldRepeatTheirKeystreamAreRefused) {
  EXPECT_EQ(protect::next_picture_number(0), 1u);
  EXPECT_EQ(protect::next_picture_number(~0u - 1), ~0u);
  EXPECT_THROW(protect::next_picture_number(~0u), Error);
}

}  // namespace
}  // namespace cu264::test
