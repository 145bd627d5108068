// Authenticated streams under attack: only the pictures that were encrypted, in their number and order, are
// ever decrypted.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "common/bitstream/emulation_prevention.h"
#include "common/bitstream/rbsp.h"
#include "protect/encode_cipher.h"
#include "protect/keys.h"
#include "protect/message.h"
#include "tests/support/unit_lists.h"
#include "tests/unit/small_stream.h"

namespace cu264::test {
namespace {

// All that decides what a decoder shows, and the messages: each slice with its parameter sets, of which these
// streams have one of each kind, and each SEI message, in order.
std::vector<Bytes> shown_units(const Bytes& stream) {
  std::vector<Bytes> units, sets(2);
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(stream).units) {
    const Bytes unit(nal.unit.begin(), nal.unit.end());
    const int type = nal.type();
    if (type == bitstream::kNalSps || type == bitstream::kNalPps) {
      sets[type == bitstream::kNalPps ? 1 : 0] = unit;
    } else if (type == bitstream::kNalSei) {
      units.push_back(unit);
    } else if (type == bitstream::kNalSlice || type == bitstream::kNalSliceIdr) {
      units.insert(units.end(), {sets[0], sets[1], unit});
    }
  }
  return units;
}

// All of CAVLC, and the signs of CABAC.
EncryptionParts most_parts(Profile profile) {
  return profile == Profile::baseline ? encryption_strength(3) : EncryptionParts{true, false, false, true};
}

// Ten different pictures of 32x32 samples, with authentication codes.
struct Sealed {
  explicit Sealed(Profile profile)
      : plain(encoded(32, 32, 10, 40, 2, profile)),
        stream(run_tool(*make_encryptor(test_key(), {most_parts(profile), true}), plain).stream) {}

  Bytes plain, stream;
  std::vector<Bytes> shown = shown_units(plain);
  std::vector<Bytes> units = units_of(stream);
};

class ProtectAuthentication : public testing::TestWithParam<Profile> {};

INSTANTIATE_TEST_SUITE_P(Cavlc, ProtectAuthentication, testing::Values(Profile::baseline));
INSTANTIATE_TEST_SUITE_P(Cabac, ProtectAuthentication, testing::Values(Profile::high));

const Sealed& sealed() {
  static const Sealed cavlc(Profile::baseline), cabac(Profile::high);
  return ProtectAuthentication::GetParam() == Profile::baseline ? cavlc : cabac;
}

// Returns false if the stream is refused, and true if the output shows what was authenticated; anything else
// fails the test.
bool opens_rightly(const Bytes& stream, const std::string& what) {
  Bytes opened;
  try {
    opened = run_tool(*make_decryptor(test_key(), {true}), stream).stream;
  } catch (const Error&) {
    return false;
  }
  EXPECT_TRUE(shown_units(opened) == sealed().shown) << what << " decrypts to other pictures";
  return true;
}

TEST_P(ProtectAuthentication, RoundTrip) {
  EXPECT_EQ(run_tool(*make_decryptor(test_key(), {true}), sealed().stream).stream, sealed().plain);
  EXPECT_EQ(run_tool(*make_decryptor(test_key()), sealed().stream).stream, sealed().plain);
  for (std::size_t i = 6; i < sealed().shown.size(); i += 3) {
    EXPECT_NE(sealed().shown[i], sealed().shown[i - 3]) << "the test could not tell pictures apart";
  }
}

TEST_P(ProtectAuthentication, EveryBitThatIsFlipped) {
  for (std::size_t bit = 0; bit < 8 * sealed().stream.size(); ++bit) {
    Bytes changed = sealed().stream;
    changed[bit / 8] ^= static_cast<std::uint8_t>(128 >> bit % 8);
    EXPECT_FALSE(opens_rightly(changed, "bit " + std::to_string(bit))) << bit;
    if (HasFailure()) return;
  }
}

TEST_P(ProtectAuthentication, EveryLength) {
  for (std::size_t size = 0; size < sealed().stream.size(); ++size) {
    const Bytes cut(sealed().stream.begin(), sealed().stream.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(opens_rightly(cut, "cut")) << size;
  }
}

TEST_P(ProtectAuthentication, EveryUnitRemovedRepeatedAndMoved) {
  const std::vector<Bytes>& units = sealed().units;
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::vector<Bytes> changed = units;
    changed.erase(changed.begin() + at(i));
    EXPECT_FALSE(opens_rightly(joined(changed), "removed")) << i;
    for (std::size_t j = 0; j <= units.size(); ++j) {
      changed = units;
      changed.insert(changed.begin() + at(j), units[i]);
      // A parameter set may be repeated.
      opens_rightly(joined(changed), "unit " + std::to_string(i) + " repeated before " + std::to_string(j));
      changed.erase(changed.begin() + at(i < j ? i : i + 1));
      opens_rightly(joined(changed), "unit " + std::to_string(i) + " moved before " + std::to_string(j));
    }
    if (HasFailure()) return;
  }
}

TEST_P(ProtectAuthentication, EveryTwoUnitsExchanged) {
  const std::vector<Bytes>& units = sealed().units;
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (std::size_t j = i + 1; j < units.size(); ++j) {
      std::vector<Bytes> changed = units;
      std::swap(changed[i], changed[j]);
      opens_rightly(joined(changed),
                    "units " + std::to_string(i) + " and " + std::to_string(j) + " exchanged");
    }
    if (HasFailure()) return;
  }
}

// Whole pictures with their codes are left out, repeated or moved.
TEST_P(ProtectAuthentication, PicturesReplayed) {
  std::vector<std::vector<Bytes>> pictures(1);  // [0] is what lies before the code of the first picture
  std::vector<Bytes> end{sealed().units.back()};
  for (std::size_t i = 0; i + 1 < sealed().units.size(); ++i) {
    const Bytes& unit = sealed().units[i];
    const bool code = unit.size() > 40 && unit[4] == 6 && unit[23] == 4;  // 4 is the kind of the message
    if (code) pictures.emplace_back();
    pictures.back().push_back(unit);
  }
  ASSERT_EQ(pictures.size(), 11u);
  const auto stream_of = [&](std::initializer_list<std::size_t> order) {
    std::vector<Bytes> units = pictures[0];
    for (const std::size_t picture : order)
      units.insert(units.end(), pictures[1 + picture].begin(), pictures[1 + picture].end());
    units.push_back(end[0]);
    return joined(units);
  };
  EXPECT_TRUE(opens_rightly(stream_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), "the stream itself"));
  EXPECT_FALSE(opens_rightly(stream_of({0, 1, 2, 3, 4, 5, 6, 7, 8}), "one less"));
  EXPECT_FALSE(opens_rightly(stream_of({1, 2, 3, 4, 5, 6, 7, 8, 9}), "without the first"));
  EXPECT_FALSE(opens_rightly(stream_of({0, 1, 2, 0, 1, 0, 1, 7, 8, 9}), "again"));
  EXPECT_FALSE(opens_rightly(stream_of({0, 1, 2, 3, 4, 5, 6, 7, 9, 8}), "exchanged"));
  // The encryption message is repeated, which would restart the numbers of pictures.
  std::vector<Bytes> twice = sealed().units;
  const auto message = std::ranges::find_if(
      sealed().units, [](const Bytes& unit) { return unit.size() > 40 && unit[4] == 6 && unit[23] == 1; });
  ASSERT_NE(message, sealed().units.end());
  twice.insert(twice.end() - 1, *message);
  EXPECT_NE(refusal(*make_decryptor(test_key()), joined(twice)).find("second encryption message"),
            std::string::npos);
}

// Returns a message's unit with another number: of its picture or, in the last unit, of all pictures.
Bytes with_number(const Bytes& unit, std::uint64_t number) {
  const bitstream::NalUnit nal{ByteSpan(unit).first(4), ByteSpan(unit).subspan(4)};
  Bytes rbsp;
  bitstream::unescape(nal.unit, rbsp);
  if (rbsp.size() < bitstream::kRbspPadding + 1 + 32 + 8)
    return unit;  // not such a message: the caller finds it unchanged
  rbsp.resize(rbsp.size() - bitstream::kRbspPadding);
  const std::size_t end = rbsp.size() - 1 - 32;  // the code and rbsp_trailing_bits follow
  for (std::size_t i = 1; i <= 8; ++i, number >>= 8) rbsp[end - i] = static_cast<std::uint8_t>(number);
  Bytes changed{0, 0, 0, 1};
  bitstream::append_escaped(changed, unit[4], rbsp);
  return changed;
}

// Pictures change places, or the last one is left out, and the messages' numbers are changed to match.
TEST_P(ProtectAuthentication, NumbersAreCovered) {
  const auto is_code = [](const Bytes& unit) { return unit.size() > 40 && unit[4] == 6 && unit[23] == 4; };
  std::vector<std::size_t> codes;
  for (std::size_t i = 0; i < sealed().units.size(); ++i) {
    if (is_code(sealed().units[i])) codes.push_back(i);
  }
  ASSERT_EQ(codes.size(), 10u);
  const auto unit = [](std::size_t index) {
    return sealed().units.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const std::size_t end = sealed().units.size() - 1;
  ASSERT_EQ(with_number(*unit(codes[8]), 8), *unit(codes[8]));
  ASSERT_EQ(with_number(*unit(end), 10), *unit(end));

  std::vector<Bytes> exchanged(unit(0), unit(codes[8]));
  exchanged.push_back(with_number(*unit(codes[9]), 8));
  exchanged.insert(exchanged.end(), unit(codes[9] + 1), unit(end));
  exchanged.push_back(with_number(*unit(codes[8]), 9));
  exchanged.insert(exchanged.end(), unit(codes[8] + 1), unit(codes[9]));
  exchanged.push_back(*unit(end));
  EXPECT_FALSE(opens_rightly(joined(exchanged), "exchanged and renumbered"));

  std::vector<Bytes> shorter(unit(0), unit(codes[9]));
  shorter.push_back(with_number(*unit(end), 9));
  EXPECT_FALSE(opens_rightly(joined(shorter), "the last one left out, and the count changed"));
}

// The code of a message also covers its version and its purpose.
TEST_P(ProtectAuthentication, MessagesOfAnotherVersionOrPurposeAreRefused) {
  const protect::StreamKeys keys(test_key(), 7);
  const protect::Message right = protect::new_message(protect::MessageKind::encryption, keys, {7, 1});
  EXPECT_NO_THROW(checked_keys(test_key(), right));
  protect::Message changed = right;
  changed.version = 3;
  EXPECT_THROW(checked_keys(test_key(), changed), Error);
  changed = right, changed.kind = protect::MessageKind::watermark;
  EXPECT_THROW(checked_keys(test_key(), changed), Error);
}

// A changed message under the same nonce.
TEST_P(ProtectAuthentication, SettingsCannotBeChanged) {
  for (const bool authenticate : {false, true}) {
    const Bytes stream =
        run_tool(*make_encryptor(test_key(), {most_parts(GetParam()), authenticate}), sealed().plain).stream;
    std::vector<Bytes> units = units_of(stream);
    const auto message = std::ranges::find_if(
        units, [](const Bytes& unit) { return unit.size() > 40 && unit[4] == 6 && unit[23] == 1; });
    ASSERT_NE(message, units.end());
    bitstream::NalUnit nal{ByteSpan(*message).first(4), ByteSpan(*message).subspan(4)};
    Bytes rbsp;
    bitstream::unescape(nal.unit, rbsp);
    rbsp.resize(rbsp.size() - bitstream::kRbspPadding);
    for (const std::size_t at :
         {std::size_t{19}, std::size_t{20}, std::size_t{28}, std::size_t{29}, std::size_t{35}}) {
      Bytes changed = rbsp;
      changed[at] ^= 1;  // version, nonce, parts, authentication, reserved bytes
      Bytes unit{0, 0, 0, 1};
      bitstream::append_escaped(unit, 6, changed);
      *message = unit;
      EXPECT_NE(refusal(*make_decryptor(test_key()), joined(units)), "") << "byte " << at;
    }
  }
}

TEST_P(ProtectAuthentication, WhatIsNotAuthenticatedIsRefusedWhereItMustBe) {
  const Bytes open = run_tool(*make_encryptor(test_key(), {}), sealed().plain).stream;
  EXPECT_EQ(refusal(*make_decryptor(test_key()), open), "");
  EXPECT_NE(refusal(*make_decryptor(test_key(), {true}), open).find("not authenticated"), std::string::npos);
  EXPECT_NE(refusal(*make_decryptor(test_key(), {true}), sealed().plain).find("not encrypted"),
            std::string::npos);
  const auto empty = make_decryptor(test_key(), {true});
  EXPECT_THROW(run_tool(*empty, Bytes{}), Error);
}

// The active parameter sets and the other messages are part of a picture.
TEST_P(ProtectAuthentication, ParameterSetsAndMessagesAreCovered) {
  const std::vector<Bytes>& units = sealed().units;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (type_of(units[i]) != 7 && type_of(units[i]) != 8) continue;
    std::vector<Bytes> changed = units;
    changed[i].back() ^= 0x40;
    EXPECT_FALSE(opens_rightly(joined(changed), "another parameter set")) << i;
  }
  // The message is inserted before the first picture, before any other, and after the last.
  const Bytes message{0, 0, 1, 6, 47, 3, 1, 2, 3, 0x80};  // for example a display orientation message
  for (std::size_t i = 0; i <= units.size(); ++i) {
    std::vector<Bytes> changed = units;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), message);
    EXPECT_FALSE(opens_rightly(joined(changed), "one more message")) << i;
  }
  Bytes with_message = message;
  with_message.insert(with_message.end(), sealed().plain.begin(), sealed().plain.end());
  with_message.insert(with_message.end(), message.begin(), message.end());
  const Bytes again = run_tool(*make_encryptor(test_key(), {{}, true}), with_message).stream;
  EXPECT_EQ(run_tool(*make_decryptor(test_key(), {true}), again).stream, with_message);
  std::vector<Bytes> without = units_of(again);
  without.erase(without.begin());
  EXPECT_NE(refusal(*make_decryptor(test_key(), {true}), joined(without)), "");
}

TEST_P(ProtectAuthentication, NothingIsReturnedOfAPictureThatFails) {
  Bytes changed = sealed().stream;
  changed[changed.size() * 9 / 10] ^= 1;
  const auto tool = make_decryptor(test_key());
  EXPECT_THROW(tool->access_units(changed), Error);
  EXPECT_EQ(tool->counts().encrypted_bits, 0u) << "decrypted before it was verified";
}

TEST_P(ProtectAuthentication, AnEndThatIsForgottenIsTold) {
  const auto tool = make_encryptor(test_key(), {{}, true});
  const Bytes stream = tool->access_units(sealed().plain);
  EXPECT_THROW(tool->finish(), Error);
  EXPECT_NE(refusal(*make_decryptor(test_key()), stream).find("no end"), std::string::npos);
}

// Streams of the first version of the format, written as at that time.
class FirstVersion : public testing::Test {
 protected:
  static constexpr std::uint64_t kNonce = 0x0123456789abcdef;
  using Number = std::uint64_t;

  static void put(Bytes& out, Number value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  static Bytes message(std::uint8_t kind, const Bytes& body) {
    Bytes rbsp{5,    static_cast<std::uint8_t>(18 + body.size()),
               0x8f, 0x2c,
               0x71, 0xd4,
               0x0b, 0x5e,
               0x4a, 0x96,
               0xb3, 0x1a,
               0xc2, 0x64,
               0x9d, 0xe7,
               0x50, 0x3f,
               kind, 1};
    rbsp.insert(rbsp.end(), body.begin(), body.end());
    rbsp.push_back(0x80);
    Bytes unit{0, 0, 0, 1};
    bitstream::append_escaped(unit, 6, rbsp);
    return unit;
  }
  Bytes stream(bool authenticated, bool flag) const {
    const Bytes now = run_tool(*protect::make_encryptor({test_key(), {}}, kNonce), plain).stream;
    const protect::StreamKeys keys(test_key(), kNonce);
    Bytes begin;
    put(begin, kNonce, 8);
    begin.insert(begin.end(), keys.first_version_check().begin(), keys.first_version_check().end());
    begin.insert(begin.end(), {1, static_cast<std::uint8_t>(flag), 0, 0, 0, 0, 0, 0});
    std::vector<Bytes> units;
    std::uint32_t picture = 0;
    for (const Bytes& unit : units_of(now)) {
      const std::size_t header = unit[2] == 1 ? 3 : 4;
      const bool own =
          unit.size() > 40 && unit[header] == 6 && unit[header + 1] == 5 && unit[header + 3] == 0x8f;
      if (own) {
        units.push_back(message(1, begin));
      } else {
        if (authenticated && (unit[header] & 31) == 5) {
          Bytes covered, code;
          put(covered, kNonce, 8), put(covered, picture, 4), put(covered, unit.size() - header, 8);
          covered.insert(covered.end(), unit.begin() + static_cast<std::ptrdiff_t>(header), unit.end());
          const protect::Digest digest =
              protect::hmac_sha256(keys.first_version_authentication_key(), {covered});
          put(code, picture++, 4);
          code.insert(code.end(), digest.begin(), digest.end());
          units.push_back(message(4, code));
        }
        units.push_back(unit);
      }
    }
    return joined(units);
  }
  const Bytes plain = encoded(48, 32, 3);
};

TEST_F(FirstVersion, IsStillRead) {
  EXPECT_EQ(run_tool(*make_decryptor(test_key()), stream(false, false)).stream, plain);
  EXPECT_EQ(run_tool(*make_decryptor(test_key()), stream(true, true)).stream, plain);
  EXPECT_NE(refusal(*make_decryptor(test_key(2)), stream(true, true)).find("key is not"), std::string::npos);
}

TEST_F(FirstVersion, ItsCodesAreChecked) {
  Bytes changed = stream(true, true);
  changed.back() ^= 2;
  EXPECT_NE(refusal(*make_decryptor(test_key()), changed).find("fails its authentication"),
            std::string::npos);
  // The flag is cleared and the codes are left in place.
  EXPECT_NE(refusal(*make_decryptor(test_key()), stream(true, false)), "");
}

TEST_F(FirstVersion, IsNoAuthenticationWhereThatIsRequired) {
  EXPECT_NE(refusal(*make_decryptor(test_key(), {true}), stream(true, true)).find("version 1"),
            std::string::npos);
  EXPECT_NE(refusal(*make_decryptor(test_key(), {true}), stream(false, false)).find("not authenticated"),
            std::string::npos);
}

}  // namespace
}  // namespace cu264::test
