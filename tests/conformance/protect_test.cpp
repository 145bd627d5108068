// Protected streams are decoded by libavcodec without a complaint, and decryption restores every byte.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "cu264/protect.h"
#include "support/decode.h"
#include "support/encode.h"
#include "tests/support/openh264_decode.h"
#include "tests/support/quick.h"
#include "tests/support/stream_walk.h"

namespace cu264::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

ProtectionKey key() {
  std::array<std::uint8_t, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(7 * i + 1);
  return ProtectionKey(bytes);
}

Bytes stream_of(const char* qp, const char* slices, const char* deblock,
                const std::vector<Picture>& pictures) {
  Config config = baseline_config();
  config.set("backend", "cpu");
  config.set("qp", qp);
  config.set("slices", slices);
  config.set("deblock", deblock);
  return encode(config, pictures).bytes();
}

void expect_clean(const DecodedStream& decoded, std::size_t pictures) {
  EXPECT_EQ(decoded.pictures.size(), pictures);
  for (const std::string& complaint : decoded.complaints) ADD_FAILURE() << complaint;
}

using BlockPlace = std::array<int, 3>;  // picture, macroblock, luma4x4BlkIdx

std::vector<std::vector<std::int16_t>> all_levels(const Bytes& stream, std::vector<BlockPlace>& places) {
  std::vector<std::vector<std::int16_t>> levels;
  int picture = -1;
  walk_stream(
      stream,
      [&](const WalkedMacroblock& mb) {
        if (mb.address == 0) ++picture;
        for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
          levels.emplace_back(mb.levels[slot], mb.levels[slot] + 16);
          places.push_back({picture, mb.address, slot - core::kSlotLuma});
        }
      },
      ZeroWords::any);
  return levels;
}

TEST(Protect, EncryptedStreamsDecodeAndComeBack) {
  const std::vector<Picture> pictures = make_all_contents(80, 64);
  for (const char* qp : {"0", "12", "27", "40"}) {
    const Bytes stream = stream_of(qp, qp[0] == '1' ? "3" : "1", "on", pictures);
    const DecodedStream plain = decode_annexb(stream);
    for (int parts = 1; parts < 8; ++parts) {
      SCOPED_TRACE(testing::Message() << "qp " << qp << ", parts " << parts);
      EncryptionOptions options;
      options.parts = {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0};
      options.authenticate = parts == 5;
      const Bytes encrypted = run_tool(*make_encryptor(key(), options), stream).stream;
      const DecodedStream decoded = decode_annexb(encrypted);
      expect_clean(decoded, pictures.size());
      EXPECT_EQ(run_tool(*make_decryptor(key()), encrypted).stream, stream);
      const std::size_t natural = pictures.size() - 1;
      EXPECT_LT(psnr(decoded.pictures[natural].picture, plain.pictures[natural].picture),
                parts == 7 ? 30 : 99);
    }
    if (quick()) break;
  }
}

// A walk over CABAC streams finds the levels of the plain stream with other signs, about half of them, and
// two decoders show the same. How far a picture is off depends on the keystream, and most where it has few
// macroblocks; so the distance is a mean of several.
TEST(Protect, SignsOfCabacDecodeAndComeBack) {
  std::vector<Picture> pictures = make_all_contents(80, 64);
  const std::size_t natural = pictures.size();
  pictures.insert(pictures.end(), 12, make_picture(Content::natural, 80, 64));
  for (const Profile profile : {Profile::main, Profile::high}) {
    for (const char* qp : {"0", "12", "27", "40"}) {
      SCOPED_TRACE(testing::Message() << "qp " << qp);
      Config config;
      config.profile = profile;
      config.set("backend", "cpu");
      config.set("qp", qp);
      config.set("slices", qp[0] == '1' ? "3" : "1");
      const Bytes stream = encode(config, pictures).bytes();
      const Bytes encrypted = run_tool(*make_encryptor(key(), {}), stream).stream;
      EXPECT_EQ(run_tool(*make_decryptor(key()), encrypted).stream, stream);
      const DecodedStream decoded = decode_annexb(encrypted), plain = decode_annexb(stream);
      expect_clean(decoded, pictures.size());
      if (has_openh264()) {
        const std::vector<Picture> others = decode_with_openh264(encrypted);
        ASSERT_EQ(others.size(), pictures.size());
        for (std::size_t i = 0; i < others.size(); ++i)
          EXPECT_EQ(others[i].samples, decoded.pictures[i].picture.samples) << i;
      }
      double sum = 0;
      for (std::size_t i = natural; i < pictures.size(); ++i)
        sum += psnr(decoded.pictures[i].picture, plain.pictures[i].picture);
      EXPECT_LT(sum / static_cast<double>(pictures.size() - natural), 18);
      std::vector<BlockPlace> places, same_places;
      const auto before = all_levels(stream, places), after = all_levels(encrypted, same_places);
      ASSERT_EQ(places, same_places);
      std::size_t levels = 0, negated = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        for (std::size_t k = 0; k < 16; ++k) {
          ASSERT_EQ(std::abs(before[i][k]), std::abs(after[i][k]));
          levels += before[i][k] != 0;
          negated += before[i][k] != after[i][k];
        }
      }
      EXPECT_NEAR(static_cast<double>(negated) / static_cast<double>(levels), 0.5, 0.05) << levels;
    }
    if (quick()) break;
  }
}

// Encryption changes no length and no count.
TEST(Protect, EncryptionKeepsTheLengthOfEverySlice) {
  const Bytes stream = stream_of("24", "2", "on", {make_picture(Content::natural, 96, 80)});
  const Bytes encrypted = run_tool(*make_encryptor(key(), {encryption_strength(3), false}), stream).stream;
  const auto sizes = [](const Bytes& bytes) {
    std::vector<std::size_t> all;
    for (const NalUnit& nal : split_annexb(bytes)) {
      if (nal.nal_unit_type == kNalSliceIdr) all.push_back(nal.rbsp.size());
    }
    return all;
  };
  EXPECT_EQ(sizes(encrypted), sizes(stream));
  EXPECT_EQ(sizes(stream).size(), 2u);
}

// Without the loop filter, samples change only in marked blocks.
TEST(Protect, WatermarksDoNotDrift) {
  std::vector<Picture> pictures;
  for (std::uint32_t seed = 1; seed < 6; ++seed)
    pictures.push_back(make_picture(Content::natural, 160, 128, seed));
  const Bytes stream = stream_of("20", "2", "off", pictures);
  const Bytes payload{'a', 0};
  for (const WatermarkScheme scheme : {WatermarkScheme::t1_sign, WatermarkScheme::t1_parity}) {
    const Bytes marked = run_tool(*make_watermark_embedder(key(), {scheme, 65536}, payload), stream).stream;
    EXPECT_EQ(run_tool(*make_watermark_extractor(key()), marked).payload, payload);
    std::vector<BlockPlace> places, same_places;
    const auto before = all_levels(stream, places), after = all_levels(marked, same_places);
    ASSERT_EQ(places, same_places);
    std::set<BlockPlace> changed;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (before[i] != after[i]) changed.insert(places[i]);
    }
    EXPECT_GT(changed.size(), 50u);
    const DecodedStream plain = decode_annexb(stream), decoded = decode_annexb(marked);
    expect_clean(decoded, pictures.size());
    std::set<BlockPlace> differ;
    for (int p = 0; p < static_cast<int>(pictures.size()); ++p) {
      const Picture& a = plain.pictures[static_cast<std::size_t>(p)].picture;
      const Picture& b = decoded.pictures[static_cast<std::size_t>(p)].picture;
      for (int y = 0; y < 128; ++y) {
        for (int x = 0; x < 160; ++x) {
          if (a.plane(0)[y * 160 + x] == b.plane(0)[y * 160 + x]) continue;
          differ.insert({p, y / 16 * 10 + x / 16, core::luma_block_index(x / 4 % 4, y / 4 % 4)});
        }
      }
      for (std::size_t i = a.plane_offset(1); i < a.samples.size(); ++i)
        ASSERT_EQ(a.samples[i], b.samples[i]);
    }
    for (const BlockPlace& place : differ) {
      EXPECT_TRUE(changed.contains(place))
          << "picture " << place[0] << " macroblock " << place[1] << " block " << place[2];
    }
  }
}

TEST(Protect, HiddenDataAndEncryptionDoNotTouchEachOther) {
  const Bytes stream = stream_of("8", "1", "on", {make_picture(Content::natural, 160, 128)});
  const Bytes payload{9, 8, 7, 6, 5};
  const Bytes encrypted = run_tool(*make_encryptor(key(), {encryption_strength(3), false}), stream).stream;
  const Bytes hidden = run_tool(*make_hider(key(), payload), encrypted).stream;
  expect_clean(decode_annexb(hidden), 1);
  EXPECT_EQ(run_tool(*make_hidden_reader(key()), hidden).payload, payload);
  const Bytes decrypted = run_tool(*make_decryptor(key()), hidden).stream;
  EXPECT_EQ(run_tool(*make_hidden_reader(key()), decrypted).payload, payload);
  const DecodedStream plain = decode_annexb(stream), decoded = decode_annexb(decrypted);
  expect_clean(decoded, 1);
  EXPECT_GT(psnr(plain.pictures[0].picture, decoded.pictures[0].picture), 30);
}

}  // namespace
}  // namespace cu264::test
