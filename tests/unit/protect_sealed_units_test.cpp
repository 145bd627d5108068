// What may stand between the units of a sealed stream: the encryptor and the verifier keep the same rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/support/unit_lists.h"
#include "tests/unit/small_stream.h"

namespace cu264::test {
namespace {

using Units = std::vector<Bytes>;

const Bytes kDelimiterUnit{0, 0, 0, 1, 9, 0x10}, kFillerUnit{0, 0, 1, 12, 0xff, 0xff, 0x80};
const Bytes kMessageUnit{0, 0, 1, 6, 47, 3, 1, 2, 3, 0x80}, kEndOfSequenceUnit{0, 0, 1, 10};

Bytes seal(const Bytes& plain) {
  return run_tool(*make_encryptor(test_key(), {encryption_strength(3), true}), plain).stream;
}

std::string refusal_to_open(const Units& units) {
  return refusal(*make_decryptor(test_key(), {true}), joined(units));
}
std::string refusal_to_seal(const Units& units) {
  return refusal(*make_encryptor(test_key(), {{}, true}), joined(units));
}

// Six pictures of two slices; each has its parameter sets before it.
Units plain_units() {
  Units units;
  Units sets;
  const Bytes one_set = encoded(32, 32, 6, 30, 2);
  int slices = 0;
  for (const Bytes& unit : units_of(one_set)) {
    if (type_of(unit) == 7 || type_of(unit) == 8) sets.push_back(unit);
    if (type_of(unit) != 5) continue;
    if (slices++ % 2 == 0) units.insert(units.end(), sets.begin(), sets.end());
    units.push_back(unit);
  }
  return units;
}

Units sealed_units() {
  return units_of(seal(joined(plain_units())));
}

// The index of the n-th unit of a type.
std::size_t index_of(const Units& units, int type, int n = 0) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (type_of(units[i]) == type && n-- == 0) return i;
  }
  ADD_FAILURE() << "there is no such unit";
  return 0;
}

Units with(Units units, std::size_t at, const Bytes& unit) {
  units.insert(units.begin() + static_cast<std::ptrdiff_t>(at), unit);
  return units;
}
Units without(Units units, std::size_t at) {
  units.erase(units.begin() + static_cast<std::ptrdiff_t>(at));
  return units;
}

TEST(SealedUnits, OnlyFillerDataStandsBetweenSlices) {
  for (const bool seals : {false, true}) {
    const Units units = seals ? plain_units() : sealed_units();
    const auto refused = [seals](const Units& changed) {
      return seals ? refusal_to_seal(changed) : refusal_to_open(changed);
    };
    const std::size_t second_slice = index_of(units, 5, 3);  // the second one of the second picture
    for (const Bytes& unit :
         {kDelimiterUnit, units[index_of(units, 7)], units[index_of(units, 8)], kMessageUnit,
          kEndOfSequenceUnit, Bytes{0, 0, 1, 31, 1, 0x80}, Bytes{0, 0, 1, 14, 1, 0x80},
          Bytes{0, 0, 1, 0x8c, 0xff, 0x80}, Bytes{0, 0, 1, 0x6c, 0xff, 0x80}}) {
      EXPECT_NE(refused(with(units, second_slice, unit)), "") << "type " << type_of(unit);
    }
    EXPECT_EQ(refused(with(units, second_slice, kFillerUnit)), "");
    EXPECT_EQ(refused(units), "");
  }
}

TEST(SealedUnits, TheLastSliceDoesNotComeLate) {
  const Units units = sealed_units();
  const std::size_t last_slice = index_of(units, 5, 1);
  for (std::size_t to = last_slice + 1; to < index_of(units, 5, 2); ++to) {
    EXPECT_NE(refusal_to_open(with(without(units, last_slice), to, units[last_slice])), "") << to;
  }
}

TEST(SealedUnits, APictureParameterSetFollowsItsSequenceParameterSet) {
  for (const bool seals : {false, true}) {
    // Only the first picture has parameter sets, or decoders would lose only that one.
    Units units;
    for (const Bytes& unit : seals ? plain_units() : sealed_units()) {
      const bool again = (type_of(unit) == 7 || type_of(unit) == 8) && std::ranges::count(units, unit) != 0;
      if (!again) units.push_back(unit);
    }
    EXPECT_EQ(seals ? refusal_to_seal(units) : refusal_to_open(units), "");
    std::swap(units[index_of(units, 7)], units[index_of(units, 8)]);
    EXPECT_NE(seals ? refusal_to_seal(units) : refusal_to_open(units), "");
  }
}

// The PPS of an SPS that changes is forgotten, whoever sends it again or does not.
TEST(SealedUnits, APictureParameterSetIsForgottenWithItsSequenceParameterSet) {
  Units units = units_of(encoded(32, 32, 2, 30, 2));
  for (const Bytes& unit : units_of(encoded(48, 32, 2, 30, 2))) units.push_back(unit);
  EXPECT_EQ(refusal_to_seal(units), "");
  EXPECT_NE(refusal_to_seal(without(units, index_of(units, 8, 1))), "");
}

TEST(SealedUnits, WhatMuxersAddAndRemoveIsNotCovered) {
  const Units units = sealed_units();
  for (std::size_t picture = 1; picture < 6; ++picture) {
    const std::size_t slice = index_of(units, 5, static_cast<int>(2 * picture));
    const std::size_t begin = index_of(units, 5, static_cast<int>(2 * picture - 1)) + 1;
    EXPECT_EQ(refusal_to_open(with(units, begin, kDelimiterUnit)), "");
    EXPECT_NE(refusal_to_open(with(units, slice, kDelimiterUnit)), "") << "after the parameter sets";
    EXPECT_NE(refusal_to_open(with(with(units, begin, kDelimiterUnit), begin, kDelimiterUnit)), "")
        << "twice";
    EXPECT_EQ(refusal_to_open(with(units, slice, kFillerUnit)), "");
    EXPECT_EQ(refusal_to_open(
                  with(with(units, slice, units[index_of(units, 8)]), slice, units[index_of(units, 7)])),
              "");
    EXPECT_EQ(refusal_to_open(without(units, index_of(units, 7, static_cast<int>(picture)))), "");
  }
  for (const std::size_t at : {units.size() - 1, units.size()}) {
    EXPECT_EQ(refusal_to_open(with(units, at, kFillerUnit)), "");
    EXPECT_NE(refusal_to_open(with(units, at, kDelimiterUnit)), "") << "without a picture";
    EXPECT_NE(refusal_to_open(with(units, at, units[index_of(units, 7)])), "") << "without a picture";
  }
}

// Units of other types, and parameter sets that no slice refers to, are neither added nor taken away.
TEST(SealedUnits, AllOthersAreCovered) {
  const Units plain = plain_units();
  const Bytes unused{0, 0, 0, 1, 0x68, 0x53, 0x8e, 0x20};  // a PPS with the number 1 of SPS 0
  for (const Bytes& unit :
       {unused, kMessageUnit, kEndOfSequenceUnit, Bytes{0, 0, 1, 11}, Bytes{0, 0, 1, 14, 1, 0x80},
        Bytes{0, 0, 1, 0x69, 0x10}, Bytes{0, 0, 1, 0x6c, 0xff, 0x80}, Bytes{0, 0, 1, 15, 1, 0x80},
        Bytes{0, 0, 1, 24, 1, 0x80}, Bytes{0, 0, 1, 31, 1, 0x80}}) {
    const Units sealed = sealed_units();
    for (const std::size_t at :
         {std::size_t{0}, index_of(sealed, 5, 2), index_of(sealed, 5, 4), sealed.size()})
      EXPECT_NE(refusal_to_open(with(sealed, at, unit)), "") << "type " << type_of(unit) << " at " << at;
    const Bytes with_unit = joined(with(plain, index_of(plain, 5, 4), unit));
    const Units own = units_of(seal(with_unit));
    EXPECT_EQ(run_tool(*make_decryptor(test_key(), {true}), joined(own)).stream, with_unit);
    const auto found = std::ranges::find(own, unit);
    ASSERT_NE(found, own.end());
    EXPECT_NE(refusal_to_open(without(own, static_cast<std::size_t>(found - own.begin()))), "")
        << "type " << type_of(unit);
  }
}

TEST(SealedUnits, AParameterSetIsNotReplacedBeforeAPictureComes) {
  Units units = plain_units();
  Bytes other = units[index_of(units, 8)];
  other.back() ^= 0x40;
  const std::size_t at = index_of(units, 8, 1);
  const Units changed =
      with(with(units, at, units[at]), at, other);  // the other one, and again the right one
  EXPECT_NE(refusal_to_seal(changed), "");
  Units sealed = sealed_units();
  const std::size_t there = index_of(sealed, 8, 1);
  EXPECT_NE(refusal_to_open(with(sealed, there, other)), "");
}

TEST(SealedUnits, NothingIsOutsideOfUnits) {
  for (const bool seals : {false, true}) {
    Bytes stream = joined(seals ? plain_units() : sealed_units());
    stream.insert(stream.begin(), 0);
    EXPECT_EQ(seals ? refusal_to_seal({stream}) : refusal_to_open({stream}), "");
    stream.front() = 0x77;
    EXPECT_NE(seals ? refusal_to_seal({stream}) : refusal_to_open({stream}), "");
  }
}

// Two pictures whose slice headers are the same are told apart by what stands between them, or not at all.
TEST(SealedUnits, PicturesThatOnlyDelimitersTellApart) {
  const Units one = units_of(encoded(32, 32, 1, 30, 1)), other = units_of(encoded(32, 32, 3, 30, 1));
  const Bytes first = one[index_of(one, 5)], same = other[index_of(other, 5, 2)];  // idr_pic_id is 0 in both
  Units plain{one[index_of(one, 7)], one[index_of(one, 8)], first, kDelimiterUnit, same};
  const Units sealed = units_of(seal(joined(plain)));
  EXPECT_EQ(refusal_to_open(sealed), "");
  EXPECT_NE(refusal_to_open(without(sealed, index_of(sealed, 9))), "");
  const Units bare = units_of(seal(joined(without(plain, 3))));
  EXPECT_EQ(refusal_to_open(bare), "");
  EXPECT_NE(refusal_to_open(with(bare, index_of(bare, 5, 1), kDelimiterUnit)), "");
  EXPECT_NE(refusal_to_open(with(bare, index_of(bare, 5, 1), plain[1])), "");
}

TEST(SealedUnits, LongParameterSetsAreNotHashedForEachSlice) {
  Units units = plain_units();
  Bytes& sps = units[index_of(units, 7)];
  sps.insert(sps.end(), 1 << 20, 0x80);
  EXPECT_NE(refusal_to_seal(units).find("4096 bytes"), std::string::npos);
}

// Where the packets of a container begin says which picture a message belongs to.
TEST(SealedUnits, WhatBelongsToAPictureIsInItsAccessUnit) {
  const Units units = sealed_units();
  std::size_t whole = 0;
  for (std::size_t cut = 1; cut < units.size(); ++cut) {
    const auto at = units.begin() + static_cast<std::ptrdiff_t>(cut);
    const bool after_slice = type_of(units[cut - 1]) == 5, before_slice = type_of(units[cut]) == 5;
    const auto tool = make_decryptor(test_key(), {true});
    try {
      tool->access_units(joined({units.begin(), at}));
      tool->access_units(joined({at, units.end()}));
      tool->finish();
      EXPECT_TRUE(after_slice && !before_slice) << cut;
      ++whole;
    } catch (const Error&) {
      EXPECT_FALSE(after_slice && !before_slice) << cut;
    }
  }
  EXPECT_EQ(whole, 6u);
}

TEST(SealedUnits, AnAccessUnitWithoutAPictureIsRefused) {
  const Units units = sealed_units();
  const std::size_t second = index_of(units, 5, 1) + 1;
  const auto at = units.begin() + static_cast<std::ptrdiff_t>(second);
  for (const Bytes& alone : {kDelimiterUnit, kFillerUnit, kMessageUnit, units[index_of(units, 7)]}) {
    const auto tool = make_decryptor(test_key(), {true});
    tool->access_units(joined({units.begin(), at}));
    const auto go_on = [&] {
      tool->access_units(alone);
      tool->access_units(joined({at, units.end()}));
    };
    EXPECT_THROW(go_on(), Error) << "type " << type_of(alone);
  }
}

// Wherever the input is cut, whole access units come out.
TEST(SealedUnits, TheEncryptorReturnsWholeAccessUnits) {
  Units units = plain_units();
  for (int picture = 5; picture > 0; --picture)
    units = with(units, index_of(units, 5, 2 * picture - 1) + 1, kMessageUnit);
  units.insert(units.end(), {kEndOfSequenceUnit, kMessageUnit});
  for (std::size_t length = 1; length < 9; ++length) {
    const auto encryptor = make_encryptor(test_key(), {{}, true});
    const auto decryptor = make_decryptor(test_key(), {true});
    Bytes opened;
    const auto open = [&](const Bytes& part) {
      const Bytes plain = decryptor->access_units(part);
      opened.insert(opened.end(), plain.begin(), plain.end());
    };
    for (std::size_t begin = 0; begin < units.size(); begin += length) {
      const std::size_t end = std::min(begin + length, units.size());
      open(encryptor->access_units(joined({units.begin() + static_cast<std::ptrdiff_t>(begin),
                                           units.begin() + static_cast<std::ptrdiff_t>(end)})));
    }
    open(encryptor->last_units());
    encryptor->finish(), decryptor->finish();
    EXPECT_EQ(opened, joined(units)) << length;
  }
}

// A picture whose slices wait for the next call is not copied in each of them.
TEST(SealedUnits, AnUnfinishedPictureTakesTimeOnce) {
  const Units units = plain_units();
  const auto tool = make_encryptor(test_key(), {{}, false});
  const std::size_t second_slice = index_of(units, 5, 1);
  Bytes received =
      tool->access_units(joined({units.begin(), units.begin() + static_cast<std::ptrdiff_t>(second_slice)}));
  const Bytes part(6, 0);  // zero bytes between units
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kCalls = 400000;
  for (int i = 0; i < kCalls; ++i) EXPECT_TRUE(tool->access_units(part).empty());
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  received =
      tool->access_units(joined({units.begin() + static_cast<std::ptrdiff_t>(second_slice), units.end()}));
  EXPECT_GT(received.size(), part.size() * kCalls);
  EXPECT_LT(seconds, 20);  // 0.1 s, and minutes if each call copied what waits
}

}  // namespace
}  // namespace cu264::test
