// A group that is not marked completes no byte that needs an emulation prevention byte before it.
#include "entropy/pack/escape_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/nal.h"

namespace cu264 {
namespace {

using entropy::GroupRecord;

using Bits = std::vector<bool>;

// Runs of zeros between ones, many of about the length that matters.
Bits invented_bits(std::size_t length, std::mt19937& random) {
  Bits bits;
  while (bits.size() < length) {
    bits.insert(bits.end(), random() % 6 == 0 ? 17 + random() % 14 : random() % 9, false);
    bits.insert(bits.end(), 1 + random() % 3, true);
  }
  bits.resize(length);
  return bits;
}

GroupRecord record_of(const Bits& bits) {
  const auto first = static_cast<std::size_t>(std::find(bits.begin(), bits.end(), true) - bits.begin());
  const auto last = static_cast<std::size_t>(std::find(bits.rbegin(), bits.rend(), true) - bits.rbegin());
  std::size_t run = 0, longest = 0;
  for (const bool bit : bits) longest = std::max(longest, run = bit ? 0 : run + 1);
  GroupRecord record;
  record.before = static_cast<std::uint32_t>(bits.size());
  record.zeros_first = static_cast<std::uint8_t>(std::min<std::size_t>(first, 31));
  record.zeros_last = static_cast<std::uint8_t>(std::min<std::size_t>(last, 31));
  record.may_escape = longest >= entropy::kEscapeZeros;
  return record;
}

// Returns for each byte of the RBSP, trailing bits included, whether it needs an emulation prevention byte
// before it.
std::vector<bool> escapes_of(Bits rbsp) {
  rbsp.push_back(true);
  rbsp.resize((rbsp.size() + 7) / 8 * 8);
  std::vector<bool> escapes;
  int zeros = 0;
  for (std::size_t i = 0; i < rbsp.size(); i += 8) {
    std::uint8_t byte = 0;
    for (std::size_t k = 0; k < 8; ++k) byte = static_cast<std::uint8_t>(2 * byte + rbsp[i + k]);
    escapes.push_back(core::needs_emulation_prevention(zeros, byte));
    zeros = core::zeros_after(zeros, byte);
  }
  return escapes;
}

TEST(EscapeGroups, ZerosThatBeginInAWord) {
  std::mt19937 random(22);
  int found = 0;
  for (int round = 0; round < 100000; ++round) {
    const Bits bits = invented_bits(64, random);
    std::uint64_t words = 0;
    for (const bool bit : bits) words = 2 * words + bit;
    bool expected = false;
    for (auto begin = bits.begin(); begin < bits.begin() + 32; ++begin) {
      expected =
          expected || std::find(begin, begin + entropy::kEscapeZeros, true) == begin + entropy::kEscapeZeros;
    }
    found += expected;
    ASSERT_EQ(entropy::escape_zeros_begin(static_cast<std::uint32_t>(words >> 32),
                                          static_cast<std::uint32_t>(words)),
              expected)
        << std::hex << words;
  }
  EXPECT_GT(found, 10000);
  EXPECT_LT(found, 90000);
}

TEST(EscapeGroups, UnmarkedGroupsNeedNone) {
  std::mt19937 random(264);
  int groups = 0, unmarked = 0, unmarked_first = 0, across = 0, in_front = 0;
  for (int round = 0; round < 20000; ++round) {
    Bits rbsp = invented_bits(1 + random() % 64, random);  // the slice header
    const std::size_t header_length = rbsp.size();
    std::uint64_t header = 0;
    for (const bool bit : rbsp) header = 2 * header + bit;
    std::vector<GroupRecord> records;
    std::vector<std::size_t> ends;
    const std::size_t count = 2 + random() % 20;
    while (records.size() < count) {
      const std::size_t shortest = random() % 4 == 0 || records.size() + 1 == count ? 1 : 32;
      const Bits bits = invented_bits(shortest + random() % (shortest == 1 ? 31 : 80), random);
      records.push_back(record_of(bits));
      rbsp.insert(rbsp.end(), bits.begin(), bits.end());
      ends.push_back(rbsp.size());
    }
    const std::vector<bool> escapes = escapes_of(rbsp);
    std::size_t byte = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool marked = i == 0
                              ? entropy::may_hold_escapes(header, static_cast<int>(header_length), records[0])
                              : entropy::may_hold_escapes(records[i - 1], records[i]);
      const std::size_t begin = i == 0 ? header_length : ends[i - 1];
      const std::size_t end = i + 1 < count ? ends[i] / 8 : escapes.size();
      for (; byte < end; ++byte) {
        if (!escapes[byte]) continue;
        ASSERT_TRUE(marked) << "round " << round << ", group " << i << " of " << count << ", byte " << byte;
        across += 8 * byte + 6 > begin && 8 * byte < begin + 16;
        in_front += 8 * byte + 6 <= begin;
      }
      ++groups;
      unmarked += !marked;
      unmarked_first += i == 0 && !marked;
    }
  }
  // All kinds must have occurred.
  EXPECT_GT(unmarked, groups / 10);
  EXPECT_GT(unmarked_first, 1000);
  EXPECT_GT(across, 100);
  EXPECT_GT(in_front, 10);
}

}  // namespace
}  // namespace cu264
