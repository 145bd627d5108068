// The decisions of selective encryption: each is undone by its twin, keeps every length, and stays legal.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/cavlc_block.h"
#include "core/cavlc_parse.h"
#include "core/cavlc_tables.h"
#include "protect/cipher.h"

namespace cu264::protect {
namespace {

TEST(ProtectCipher, LengthsAreThoseOfTheTables) {
  for (int total = 1; total <= 15; ++total) {
    for (int zeros = 0; zeros <= 16 - total; ++zeros) {
      EXPECT_EQ(code_length(total_zeros_lengths(total, 16), zeros),
                core::total_zeros_code(total, zeros).length);
    }
  }
  for (int total = 1; total <= 3; ++total) {
    for (int zeros = 0; zeros <= 4 - total; ++zeros) {
      EXPECT_EQ(code_length(total_zeros_lengths(total, 4), zeros),
                core::chroma_dc_total_zeros_code(total, zeros).length);
    }
  }
  for (int left = 1; left <= 14; ++left) {
    for (int run = 0; run <= left; ++run) {
      EXPECT_EQ(code_length(run_before_lengths(left), run), core::run_before_code(left, run).length);
    }
  }
}

// Every level at every suffixLength: the last bit of the code is the sign exactly where the rule says so.
TEST(ProtectCipher, SignBits) {
  for (int suffix_length = 0; suffix_length <= 6; ++suffix_length) {
    for (int magnitude = 1; magnitude <= 2000; ++magnitude) {
      core::BitCounter plus, minus;
      const int code = core::level_code(magnitude, false);
      core::put_level(plus, code, suffix_length);
      core::put_level(minus, core::level_code(-magnitude, false), suffix_length);
      const bool has_bit = level_sign_has_bit(code, suffix_length);
      EXPECT_EQ(has_bit, level_sign_has_bit(code + 1, suffix_length));
      if (!has_bit) {
        EXPECT_NE(plus.bits, minus.bits);
        continue;
      }
      ASSERT_EQ(plus.bits, minus.bits) << magnitude << " at suffixLength " << suffix_length;
      std::uint8_t a[8] = {}, b[8] = {};
      core::BitWriter first(a, 8), second(b, 8);
      core::put_level(first, code, suffix_length);
      core::put_level(second, core::level_code(-magnitude, false), suffix_length);
      first.align_with_zeros(), second.align_with_zeros();
      a[(plus.bits - 1) / 8] ^= static_cast<std::uint8_t>(128 >> (plus.bits - 1) % 8);
      EXPECT_TRUE(std::equal(a, a + 8, b)) << magnitude << " at suffixLength " << suffix_length;
    }
  }
}

// What the standard allows a block with these neighbours, the corner being there if both are (8.3.1.2).
bool is_legal(int mode, bool left, bool above) {
  static constexpr bool needs_left[9] = {false, true, false, false, true, true, true, false, true};
  static constexpr bool needs_above[9] = {true, false, false, true, true, true, true, true, false};
  return (left || !needs_left[mode]) && (above || !needs_above[mode]);
}

TEST(ProtectCipher, RemModes) {
  for (const bool left : {false, true}) {
    for (const bool above : {false, true}) {
      for (std::uint32_t key = 0; key < 256; ++key) {
        std::set<int> reached;
        for (int rem = 0; rem < 8; ++rem) {
          const int other = encrypt_rem_mode(rem, left, above, key, false);
          ASSERT_TRUE(other >= 0 && other < 8);
          EXPECT_EQ(encrypt_rem_mode(other, left, above, key, true), rem);
          reached.insert(other);
          if (left && above) continue;  // all modes are legal
          const int mode = rem < 2 ? rem : rem + 1, other_mode = other < 2 ? other : other + 1;
          EXPECT_EQ(is_legal(mode, left, above), is_legal(other_mode, left, above))
              << mode << " to " << other_mode;
        }
        EXPECT_EQ(reached.size(), 8u);
      }
    }
  }
  EXPECT_NE(encrypt_rem_mode(1, true, false, 1, false), 1);
  EXPECT_NE(encrypt_rem_mode(0, false, true, 1, false), 0);
}

TEST(ProtectCipher, MacroblockTypes) {
  int changed = 0;
  for (int neighbours = 0; neighbours < 8; ++neighbours) {
    const bool left = (neighbours & 1) != 0, above = (neighbours & 2) != 0, corner = (neighbours & 4) != 0;
    for (std::uint32_t key = 0; key < 256; ++key) {
      for (int type = 1; type <= 24; ++type) {
        const int mode = (type - 1) & 3;
        const bool legal = mode == 0 ? above : mode == 1 ? left : mode == 2 || (left && above && corner);
        const int other = encrypt_mb_type(type, left, above, corner, key, false);
        EXPECT_EQ(encrypt_mb_type(other, left, above, corner, key, true), type);
        EXPECT_EQ((other - 1) / 4, (type - 1) / 4) << "the coded block pattern";
        EXPECT_EQ(core::ue_length(static_cast<std::uint32_t>(other)),
                  core::ue_length(static_cast<std::uint32_t>(type)));
        if (!legal) {
          EXPECT_EQ(other, type);
          continue;
        }
        const int moved = (other - 1) & 3;
        EXPECT_TRUE(moved == 0 ? above : moved == 1 ? left : moved == 2 || (left && above && corner));
        changed += other != type;
      }
    }
  }
  EXPECT_GT(changed, 1000);
}

TEST(ProtectCipher, ChromaModes) {
  for (const bool left : {false, true}) {
    for (const bool above : {false, true}) {
      for (int mode = 0; mode < 4; ++mode) {
        const int other = encrypt_chroma_mode(mode, left, above, 1);
        EXPECT_EQ(encrypt_chroma_mode(other, left, above, 1), mode);
        EXPECT_EQ(encrypt_chroma_mode(mode, left, above, 0), mode);
        EXPECT_EQ(other != mode, left && above && (mode == 1 || mode == 2));
      }
    }
  }
}

// The modes of a slice that begins inside a row stay legal: a model of 8.3.1.1 over four rows.
TEST(ProtectCipher, KeptModesGuardTheMissingCorner) {
  constexpr int kWidth = 5;
  std::mt19937 random(3);
  for (int first_mb = 1; first_mb < kWidth; ++first_mb) {
    EXPECT_TRUE(mode_is_kept(first_mb, first_mb, kWidth, false, 10));
    EXPECT_TRUE(mode_is_kept(first_mb + kWidth - 1, first_mb, kWidth, false, 5));
    EXPECT_TRUE(mode_is_kept(first_mb + kWidth, first_mb, kWidth, true, 0));
    EXPECT_FALSE(mode_is_kept(first_mb + kWidth, first_mb, kWidth, true, 1));
  }
  for (int address = 0; address < 20; ++address) EXPECT_FALSE(mode_is_kept(address, 0, kWidth, false, 0));
}

ZerosAndRuns random_block(std::mt19937& random, int max_num_coeff) {
  ZerosAndRuns block;
  block.max_num_coeff = max_num_coeff;
  std::uint32_t nonzero = 0;
  while (nonzero == 0) nonzero = random() & random() & ((1u << max_num_coeff) - 1);
  if (random() % 3 == 0) nonzero |= random() & ((1u << max_num_coeff) - 1);
  block.total_coeff = core::count_ones(nonzero);
  int position = core::highest_bit(nonzero);
  block.total_zeros = position + 1 - block.total_coeff;
  int left = block.total_zeros;
  for (int i = 0; i + 1 < block.total_coeff && left > 0; ++i) {
    const int next = core::highest_bit(nonzero & ((1u << position) - 1));
    block.run_before[block.coded_runs++] = static_cast<std::uint8_t>(position - next - 1);
    left -= position - next - 1;
    position = next;
  }
  return block;
}

// Of the zeros and runs, as 7.3.5.3.2 codes them; -1 if they cannot be coded, or by another number of codes.
int coded_bits(const ZerosAndRuns& block) {
  const int zeros = block.total_zeros;
  int bits = block.max_num_coeff == 4 ? core::chroma_dc_total_zeros_code(block.total_coeff, zeros).length
                                      : core::total_zeros_code(block.total_coeff, zeros).length;
  int left = zeros, coded = 0;
  for (int i = 0; i + 1 < block.total_coeff && left > 0; ++i, ++coded) {
    if (block.run_before[i] > left) return -1;
    bits += core::run_before_code(left, block.run_before[i]).length;
    left -= block.run_before[i];
  }
  return coded == block.coded_runs ? bits : -1;
}

TEST(ProtectCipher, ZerosAndRuns) {
  std::mt19937 random(11);
  int changed = 0;
  for (const int max_num_coeff : {4, 15, 16}) {
    for (int i = 0; i < 30000; ++i) {
      const ZerosAndRuns block = random_block(random, max_num_coeff);
      const std::uint32_t keys[3] = {static_cast<std::uint32_t>(random()),
                                     static_cast<std::uint32_t>(random()),
                                     static_cast<std::uint32_t>(random())};
      ZerosAndRuns other = block;
      encrypt_zeros(other, keys[0], keys[1], keys[2], false);
      ASSERT_EQ(other.total_coeff, block.total_coeff);
      ASSERT_EQ(other.coded_runs, block.coded_runs);
      if (block.total_coeff < max_num_coeff) {
        ASSERT_LE(other.total_zeros, max_num_coeff - other.total_coeff);
        ASSERT_EQ(coded_bits(other), coded_bits(block));
      }
      changed += other.total_zeros != block.total_zeros ||
                 !std::equal(other.run_before, other.run_before + 16, block.run_before);
      encrypt_zeros(other, keys[0], keys[1], keys[2], true);
      ASSERT_EQ(other.total_zeros, block.total_zeros);
      ASSERT_TRUE(std::equal(other.run_before, other.run_before + 16, block.run_before));
    }
  }
  EXPECT_GT(changed, 20000);
}

}  // namespace
}  // namespace cu264::protect
