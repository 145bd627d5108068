// Sealed streams that somebody changed: what is decrypted shows the pictures that were sealed, in two
// decoders that share no code, or it is refused. CU264_SEALS says how many changed streams are tried.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "cu264/protect.h"
#include "support/decode.h"
#include "support/encode.h"
#include "tests/support/altered_streams.h"
#include "tests/support/openh264_decode.h"
#include "tests/support/quick.h"
#include "tests/support/unit_lists.h"

namespace cu264::test {
namespace {

ProtectionKey key() {
  std::array<std::uint8_t, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(5 * i + 3);
  return ProtectionKey(bytes);
}

std::uint32_t number_of_streams() {
  const char* const wanted = std::getenv("CU264_SEALS");
  if (wanted != nullptr) return static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10));
  return quick() ? 100 : 600;
}

ByteVector encoded(Profile profile, int width, int height, int pictures, const char* slices,
                   const char* headers, std::uint32_t seed) {
  Config config;
  config.profile = profile;
  config.set("backend", "cpu");
  config.set("qp", "38");
  config.set("slices", slices);
  config.set("headers", headers);
  std::vector<Picture> content;
  for (int i = 0; i < pictures; ++i)
    content.push_back(make_picture(Content::natural, width, height, seed + static_cast<std::uint32_t>(i)));
  return encode(config, content).bytes();
}

// What two decoders show of a stream.
struct Shown {
  std::vector<std::vector<std::uint8_t>> libavcodec, openh264;
  bool operator==(const Shown&) const = default;
};

Shown shown(const ByteVector& stream) {
  Shown all;
  for (const DecodedPicture& decoded : decode_annexb(stream).pictures)
    all.libavcodec.push_back(decoded.picture.samples);
  if (!has_openh264()) return all;
  for (const Picture& picture : decode_with_openh264(stream)) all.openh264.push_back(picture.samples);
  return all;
}

struct Sealed {
  ByteVector plain, stream;
  Shown pictures;
};

// Encrypts all that can be encrypted: every part of CAVLC streams, the signs of CABAC streams.
ByteVector seal(const ByteVector& plain, Profile profile) {
  const int strength = profile == Profile::baseline ? 3 : 1;
  return run_tool(*make_encryptor(key(), {encryption_strength(strength), true}), plain).stream;
}

ByteVector after(ByteVector first, const ByteVector& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// With an access unit delimiter before each picture, and filler data after each slice.
ByteVector delimited(const ByteVector& stream) {
  ByteVector out;
  bool sets = false;
  for (const ByteVector& unit : units_of(stream)) {
    const int type = type_of(unit);
    const bool first = (type == 5 && (unit[unit[2] == 1 ? 4 : 5] & 0x80) != 0 && !sets) || type == 7;
    sets = type == 7 || type == 8;
    if (first) out = after(out, {0, 0, 0, 1, 9, 0x10});
    out = after(out, unit);
    if (type == 5) out = after(out, {0, 0, 1, 12, 0xff, 0x80});
  }
  return out;
}

std::vector<Sealed> make_sealed_streams(Profile profile) {
  std::vector<Sealed> all;
  const auto add = [&](const ByteVector& plain) {
    all.push_back({plain, seal(plain, profile), shown(plain)});
  };
  add(encoded(profile, 48, 32, 5, "2", "every", 1));
  add(encoded(profile, 32, 48, 4, "3", "first", 9));
  add(delimited(encoded(profile, 48, 32, 4, "2", "every", 20)));
  // openh264 loses a picture of Main and High where the size changes.
  const int second_width = profile == Profile::baseline ? 32 : 48;
  add(after(encoded(profile, 48, 32, 3, "1", "first", 30),
            encoded(profile, second_width, 32, 3, "2", "first", 40)));
  return all;
}

const std::vector<Sealed>& sealed_streams(Profile profile) {
  static std::map<Profile, std::vector<Sealed>> streams;
  std::vector<Sealed>& those = streams[profile];
  if (those.empty()) those = make_sealed_streams(profile);
  return those;
}

class Seals : public testing::TestWithParam<Profile> {};

INSTANTIATE_TEST_SUITE_P(Cavlc, Seals, testing::Values(Profile::baseline));
INSTANTIATE_TEST_SUITE_P(Cabac, Seals, testing::Values(Profile::main, Profile::high));

TEST_P(Seals, TheStreamsThemselvesOpen) {
  for (const Sealed& one : sealed_streams(GetParam())) {
    EXPECT_EQ(run_tool(*make_decryptor(key(), {true}), one.stream).stream, one.plain);
    EXPECT_GE(one.pictures.libavcodec.size(), 4u);
    for (std::size_t i = 1; i < one.pictures.libavcodec.size(); ++i)
      EXPECT_NE(one.pictures.libavcodec[i], one.pictures.libavcodec[i - 1]) << "nobody could tell them apart";
  }
}

TEST_P(Seals, TwoDecodersShowTheSame) {
  if (!has_openh264()) GTEST_SKIP() << "openh264 (libopenh264-dev) was not found when the tests were built";
  for (const Sealed& one : sealed_streams(GetParam()))
    EXPECT_EQ(one.pictures.openh264, one.pictures.libavcodec);
}

TEST_P(Seals, NoneThatWasChangedShowsOtherPictures) {
  const std::vector<Sealed>& streams = sealed_streams(GetParam());
  std::vector<ByteVector> others;
  for (const Sealed& one : streams) {
    for (const ByteVector& unit : units_of(one.stream)) others.push_back(unit);
  }
  const std::uint32_t count = number_of_streams();
  std::uint32_t accepted = 0, the_same = 0, wrong = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Sealed& one = streams[i % streams.size()];
    const Alteration changed = altered(one.stream, others, i);
    if (changed.stream == one.stream) ++the_same;
    ByteVector opened;
    try {
      opened = run_tool(*make_decryptor(key(), {true}), changed.stream).stream;
    } catch (const Error&) {
      continue;
    }
    ++accepted;
    if (shown(opened) == one.pictures) continue;
    ADD_FAILURE() << "stream " << i % streams.size() << ", seed " << i << ": " << changed.what
                  << ": it is accepted with other pictures";
    if (++wrong == 20) break;
  }
  std::cout << count << " streams, " << accepted << " accepted, of which " << the_same
            << " were not changed\n";
  EXPECT_GT(accepted, the_same) << "nothing that is not covered was changed: the test decodes nothing";
  EXPECT_LT(accepted, count / 2);
}

// What the encryptor takes can be opened again, whatever units are in it.
TEST_P(Seals, WhatIsSealedOpens) {
  const std::vector<Sealed>& streams = sealed_streams(GetParam());
  std::vector<ByteVector> others;
  for (const Sealed& one : streams) {
    for (const ByteVector& unit : units_of(one.plain)) others.push_back(unit);
  }
  const std::uint32_t count = number_of_streams();
  std::uint32_t made = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ByteVector& plain = streams[i % streams.size()].plain;
    const ByteVector strange = i % 3 == 0 ? altered(plain, others, i).stream : enriched(plain, others, 3, i);
    ByteVector stream;
    try {
      stream = seal(strange, GetParam());
    } catch (const Error&) {
      continue;
    }
    ++made;
    ByteVector opened;
    EXPECT_NO_THROW(opened = run_tool(*make_decryptor(key(), {true}), stream).stream) << "seed " << i;
    EXPECT_EQ(opened, strange) << "seed " << i;
    if (HasFailure()) return;
  }
  std::cout << made << " of " << count << " streams could be sealed\n";
  EXPECT_GT(made, count / 8);
}

}  // namespace
}  // namespace cu264::test
