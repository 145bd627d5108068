// Blocks of levels are coded as by a coder written from the clause, and the parser restores them.

#include "core/cavlc_block.h"
#include "core/bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "bit_string.h"
#include "core/cavlc_parse.h"
#include "core/quant.h"

namespace {

using namespace cu264::core;
using namespace cu264::test;

using Levels = std::array<std::int16_t, 16>;

std::string text(const CodeWord& code) {
  return binary(code.bits, code.length);
}

// The code of one level by the decoding rules of 9.2.2.1: the (level_prefix, level_suffix) that decodes to it
// is searched for, not computed. Empty if there is none.
std::string level_reference(int level, bool first_after_few_ones, int suffix_length) {
  for (int prefix = 0; prefix <= 15; ++prefix) {
    int size = suffix_length;
    if (prefix == 14 && suffix_length == 0) size = 4;
    if (prefix == 15) size = 12;
    int base = prefix << suffix_length;
    if (prefix == 15 && suffix_length == 0) base += 15;
    if (first_after_few_ones) base += 2;
    const int level_code = level > 0 ? 2 * level - 2 : -2 * level - 1;
    if (level_code >= base && level_code < base + (1 << size)) {
      return std::string(static_cast<std::size_t>(prefix), '0') + '1' + binary(level_code - base, size);
    }
  }
  return {};
}

// residual_block_cavlc (7.3.5.3.2) with lists of levels and runs, as in the standard.
std::string block_reference(const Levels& block, int max_num_coeff, int nC) {
  std::vector<int> levels, runs;  // highest frequency first
  int run = 0;
  for (int k = 0; k < max_num_coeff; ++k) {
    if (block[k] == 0) {
      ++run;
      continue;
    }
    levels.insert(levels.begin(), block[k]);
    runs.insert(runs.begin(), run);
    run = 0;
  }
  const int total_coeff = static_cast<int>(levels.size());
  int ones = 0;
  while (ones < 3 && ones < total_coeff && std::abs(levels[ones]) == 1) ++ones;

  const int column = nC == -1 ? 4 : nC < 2 ? 0 : nC < 4 ? 1 : nC < 8 ? 2 : 3;
  std::string bits = text(coeff_token_code(column, total_coeff, ones));
  if (total_coeff == 0) return bits;
  for (int i = 0; i < ones; ++i) bits += levels[i] < 0 ? '1' : '0';
  int suffix_length = total_coeff > 10 && ones < 3 ? 1 : 0;
  for (int i = ones; i < total_coeff; ++i) {
    bits += level_reference(levels[i], i == ones && ones < 3, suffix_length);
    if (suffix_length == 0) suffix_length = 1;
    if (std::abs(levels[i]) > (3 << (suffix_length - 1)) && suffix_length < 6) ++suffix_length;
  }
  int zeros_left = 0;
  for (const int r : runs) zeros_left += r;
  if (total_coeff < max_num_coeff) {
    bits += text(max_num_coeff == 4 ? chroma_dc_total_zeros_code(total_coeff, zeros_left)
                                    : total_zeros_code(total_coeff, zeros_left));
  }
  for (int i = 0; i + 1 < total_coeff && zeros_left > 0; ++i) {
    bits += text(run_before_code(zeros_left, runs[i]));
    zeros_left -= runs[i];
  }
  return bits;
}

std::string coded(const Levels& block, int max_num_coeff, int nC) {
  StringSink sink;
  put_block(sink, block.data(), cavlc_symbols(block.data(), max_num_coeff), max_num_coeff, nC);
  return sink.bits;
}

// The coder, the counter and the parser agree with the reference, at any bit offset.
void check_block(const Levels& block, int max_num_coeff, int nC, int offset) {
  const std::string what = "maxNumCoeff " + std::to_string(max_num_coeff) + ", nC " + std::to_string(nC) +
                           ", levels " + ::testing::PrintToString(block);
  const std::string bits = coded(block, max_num_coeff, nC);
  ASSERT_EQ(bits, block_reference(block, max_num_coeff, nC)) << what;
  ASSERT_EQ(cavlc_block_bits(block.data(), max_num_coeff, nC), static_cast<int>(bits.size())) << what;

  // Other bits follow, so that a code that takes too many bits is noticed.
  const std::vector<std::uint8_t> bytes =
      bytes_of(std::string(static_cast<std::size_t>(offset), '1') + bits + "101");
  BitReader reader(bytes.data(), bytes.size());
  reader.skip(offset);
  Levels parsed;
  parsed.fill(77);
  int total_coeff = 0;
  for (int k = 0; k < max_num_coeff; ++k) total_coeff += block[k] != 0;
  ASSERT_EQ(cavlc_parse_block(reader, parsed.data(), max_num_coeff, nC), total_coeff) << what;
  ASSERT_EQ(reader.bit_position(), offset + bits.size()) << what;
  for (int k = 0; k < max_num_coeff; ++k)
    ASSERT_EQ(parsed[k], block[k]) << "coefficient " << k << ", " << what;
}

std::vector<int> classes_of_nc(int max_num_coeff) {
  if (max_num_coeff == 4) return {kChromaDcNc};
  return {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
}

TEST(CavlcBlock, WorkedExampleOfTheCavlcuPaper) {
  const Levels block = {5, 1, 0, -1, 1, 0, 1};
  const int nC = nc_from_neighbours(4, 6);
  EXPECT_EQ(nC, 5);
  const CavlcSymbols symbols = cavlc_symbols(block.data(), 16);
  EXPECT_EQ(symbols.total_coeff, 5);
  EXPECT_EQ(symbols.trailing_ones, 3);
  EXPECT_EQ(coded(block, 16, nC),
            "1010"
            "001"
            "1"
            "000010"
            "0011"
            "01"
            "1"
            "0");
}

TEST(CavlcBlock, EmptyBlock) {
  const Levels none = {};
  EXPECT_EQ(coded(none, 16, 0), "1");
  EXPECT_EQ(coded(none, 15, 2), "11");
  EXPECT_EQ(coded(none, 16, 7), "1111");
  EXPECT_EQ(coded(none, 16, 8), "000011");
  EXPECT_EQ(coded(none, 4, kChromaDcNc), "01");
}

// Every pattern of zeros and ones, with every sign of the ones that matter.
TEST(CavlcBlock, AllShapes) {
  for (const int max_num_coeff : {4, 15, 16}) {
    for (std::uint32_t shape = 0; shape < 1u << max_num_coeff; ++shape) {
      Levels block = {};
      for (int k = 0; k < max_num_coeff; ++k) {
        const int sign = (shape * 2654435761u >> (k + 8)) & 1 ? -1 : 1;
        if (shape >> k & 1) block[k] = static_cast<std::int16_t>(sign);
      }
      const int nC = max_num_coeff == 4 ? kChromaDcNc : static_cast<int>(shape % 17);
      check_block(block, max_num_coeff, nC, static_cast<int>(shape % 8));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CavlcBlock, UniformBlocks) {
  for (const int max_num_coeff : {4, 15, 16}) {
    for (const int magnitude : {1, 2, 3, 4, 6, 7, 12, 13, 15, 16, 24, 48, 49, 100, 1000, 2062, kMaxLevel}) {
      for (int signs = 0; signs < 3; ++signs) {
        for (int count = 1; count <= max_num_coeff; ++count) {
          Levels block = {};
          for (int k = 0; k < count; ++k) {
            const bool negative = signs == 1 || (signs == 2 && k % 2 != 0);
            block[k] = static_cast<std::int16_t>(negative ? -magnitude : magnitude);
          }
          for (const int nC : classes_of_nc(max_num_coeff)) check_block(block, max_num_coeff, nC, count % 8);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(CavlcBlock, RandomBlocks) {
  std::mt19937 random(4);
  for (int round = 0; round < 30000; ++round) {
    const int max_num_coeff = std::array{4, 15, 16}[random() % 3];
    const unsigned density = 1 + random() % 16, limit = 1u << (random() % 12);
    Levels block = {};
    for (int k = 0; k < max_num_coeff; ++k) {
      if (random() % 16 >= density) continue;
      const int magnitude = std::min(1 + static_cast<int>(random() % limit), kMaxLevel);
      block[k] = static_cast<std::int16_t>(random() % 8 == 0 ? kMaxLevel : magnitude);
      if (random() % 2 != 0) block[k] = static_cast<std::int16_t>(-block[k]);
    }
    const int nC = max_num_coeff == 4 ? kChromaDcNc : static_cast<int>(random() % 17);
    check_block(block, max_num_coeff, nC, static_cast<int>(random() % 8));
    if (HasFatalFailure()) return;
  }
}

// kMaxLevel is what level_prefix 15 carries in every state of the coder, and no larger level is.
TEST(CavlcBlock, LargestLevelOfBaseline) {
  bool one_more_fits_everywhere = true;
  for (int suffix_length = 0; suffix_length <= 6; ++suffix_length) {
    for (const bool first_after_few_ones : {false, true}) {
      if (first_after_few_ones && suffix_length > 1) continue;  // it is the first level (9.2.2)
      for (int magnitude = first_after_few_ones ? 2 : 1; magnitude <= kMaxLevel; ++magnitude) {
        for (const int level : {magnitude, -magnitude}) {
          const std::string expected = level_reference(level, first_after_few_ones, suffix_length);
          ASSERT_FALSE(expected.empty()) << level << ", suffixLength " << suffix_length;
          StringSink sink;
          put_level(sink, level_code(level, first_after_few_ones), suffix_length);
          ASSERT_EQ(sink.bits, expected) << level << ", suffixLength " << suffix_length;
        }
      }
      for (const int level : {kMaxLevel + 1, -kMaxLevel - 1}) {
        one_more_fits_everywhere &= !level_reference(level, first_after_few_ones, suffix_length).empty();
      }
    }
  }
  EXPECT_FALSE(one_more_fits_everywhere);
}

// Levels that are small, large, or large before small ones, which then meet a long suffixLength.
TEST(CavlcBlock, BoundHolds) {
  std::mt19937 random(5);
  constexpr int kMagnitudes[] = {1, 2, 3, 4, 7, 8, 15, 16, 24, 25, 48, 49, 100, kMaxLevel};
  constexpr int kNcs[] = {kChromaDcNc, 0, 2, 4, 8};
  int tightest = 1000;
  for (int round = 0; round < 200000; ++round) {
    const int nC = kNcs[random() % 5],
              max_num_coeff = nC == kChromaDcNc ? 4 : 15 + static_cast<int>(random() % 2);
    const unsigned density = 1 + random() % 16;
    const int most = 1 + static_cast<int>(random() % std::size(kMagnitudes));
    Levels levels{};
    int count = 0, magnitudes = 0;
    for (int k = max_num_coeff - 1; k >= 0; --k) {
      if (random() % 16 >= density) continue;
      // In half of the rounds, large levels come first in coding order and ones after them.
      const bool large = round % 2 == 0 || count < static_cast<int>(random() % 8);
      const int magnitude = large ? kMagnitudes[random() % static_cast<unsigned>(most)] : 1;
      levels[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(random() % 2 ? magnitude : -magnitude);
      ++count, magnitudes += magnitude;
    }
    const int slack =
        cavlc_bits_bound(1, count, magnitudes) - cavlc_block_bits(levels.data(), max_num_coeff, nC);
    ASSERT_GE(slack, 0) << count << " levels, sum " << magnitudes;
    tightest = std::min(tightest, slack);
  }
  EXPECT_LT(tightest, 30) << "the blocks came nowhere near";
}

TEST(CavlcBlock, NcOfNeighbours) {
  for (int nA = 0; nA <= 16; ++nA) {
    EXPECT_EQ(nc_from_neighbours(nA, -1), nA);
    EXPECT_EQ(nc_from_neighbours(-1, nA), nA);
    for (int nB = 0; nB <= 16; ++nB) EXPECT_EQ(nc_from_neighbours(nA, nB), (nA + nB + 1) / 2);
  }
  EXPECT_EQ(nc_from_neighbours(-1, -1), 0);
}

// Any bits give an error, or a block whose only code they are.
TEST(CavlcParse, HostileBits) {
  std::mt19937 random(5);
  int blocks = 0, errors = 0;
  for (int round = 0; round < 200000; ++round) {
    // Exactly as much memory as the reader may touch, so that a sanitizer reports a single byte more.
    std::vector<std::uint8_t> bytes(random() % 24);
    const int fill = static_cast<int>(random() % 3);  // random, sparse, or dense
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(fill == 0   ? random()
                                       : fill == 1 ? random() & random()
                                                   : random() | random());
      if (fill == 1) byte &= static_cast<std::uint8_t>(random());
    }
    const int max_num_coeff = std::array{4, 15, 16}[random() % 3];
    const int nC = max_num_coeff == 4 ? kChromaDcNc : static_cast<int>(random() % 17);
    BitReader reader(bytes.data(), bytes.size());
    Levels levels = {};
    const int total_coeff = cavlc_parse_block(reader, levels.data(), max_num_coeff, nC);
    if (total_coeff < 0) {
      ++errors;
      continue;
    }
    ++blocks;
    ASSERT_LE(total_coeff, max_num_coeff);
    ASSERT_EQ(total_coeff, 16 - static_cast<int>(std::count(levels.begin(), levels.end(), 0)));
    ASSERT_LE(reader.bit_position(), 8 * bytes.size());
    ASSERT_EQ(text_of(bytes).substr(0, reader.bit_position()), coded(levels, max_num_coeff, nC))
        << "maxNumCoeff " << max_num_coeff << ", nC " << nC << ", " << ::testing::PrintToString(levels);
  }
  EXPECT_GT(blocks, 10000);
  EXPECT_GT(errors, 10000);
}

TEST(CavlcParse, EveryTruncationIsAnError) {
  const Levels block = {5, 1, 0, -1, 1, 0, 1};
  const std::string bits = coded(block, 16, 5);
  for (std::size_t length = 0; length < bits.size(); length += 8) {
    const std::vector<std::uint8_t> bytes = bytes_of(bits.substr(0, length));
    BitReader reader(bytes.data(), bytes.size());
    Levels levels = {};
    EXPECT_EQ(cavlc_parse_block(reader, levels.data(), 16, 5), kCavlcParseError) << length << " bits";
  }
}

TEST(CavlcParse, LongPrefixesAreErrors) {
  // The coeff_token of one coefficient that is no trailing one, followed by a level.
  const std::string token = text(coeff_token_code(0, 1, 0));
  for (int prefix = 0; prefix <= 40; ++prefix) {
    const std::string level = std::string(static_cast<std::size_t>(prefix), '0') + '1' + std::string(60, '1');
    const std::vector<std::uint8_t> bytes = bytes_of(token + level);
    BitReader reader(bytes.data(), bytes.size());
    Levels levels = {};
    EXPECT_EQ(cavlc_parse_block(reader, levels.data(), 16, 0), prefix <= 15 ? 1 : kCavlcParseError) << prefix;
  }
}

TEST(CavlcBlock, LengthsOfLevelsWithoutTheirBits) {
  for (int suffix_length = 0; suffix_length <= 6; ++suffix_length) {
    for (int code = 0; code <= level_code(-kMaxLevel, false); ++code) {
      BitCounter counter;
      put_level(counter, code, suffix_length);
      ASSERT_EQ(level_length(code, suffix_length), static_cast<int>(counter.bits))
          << "levelCode " << code << ", suffixLength " << suffix_length;
    }
  }
}

}  // namespace
