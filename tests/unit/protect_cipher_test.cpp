// The operations of selective encryption: each has an inverse, keeps every length, and gives legal syntax.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "core/cavlc_block.h"
#include "core/cavlc_parse.h"
#include "core/cavlc_tables.h"
#include "protect/cipher.h"
#include "protect/key_layout.h"
#include "protect/place_cipher.h"

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

// For every level at every suffixLength, the last bit of the code is the sign exactly where the rule says so.
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

// Returns whether the standard allows a mode in a block with these neighbours; the corner is available if
// both are (8.3.1.2).
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

std::uint32_t random_block(std::mt19937& random, int max_num_coeff) {
  const std::uint32_t all = (1u << max_num_coeff) - 1;
  std::uint32_t nonzero = 0;
  while (nonzero == 0) nonzero = random() & random() & all;
  return random() % 3 == 0 ? nonzero | (random() & all) : nonzero;
}

// Describes what follows the levels in 7.3.5.3.2: the bits, and the number of codes.
struct Zeros {
  int bits = 0, codes = 0;
  bool operator==(const Zeros&) const = default;
};

Zeros coded_zeros(std::uint32_t nonzero, int max_num_coeff) {
  std::vector<int> places;
  for (int k = max_num_coeff - 1; k >= 0; --k) {
    if ((nonzero >> k & 1) != 0) places.push_back(k);
  }
  const int total = static_cast<int>(places.size());
  Zeros coded;
  if (total == max_num_coeff) return coded;
  int left = places[0] + 1 - total;
  coded.bits = max_num_coeff == 4 ? core::chroma_dc_total_zeros_code(total, left).length
                                  : core::total_zeros_code(total, left).length;
  for (std::size_t i = 0; i + 1 < places.size() && left > 0; ++i, ++coded.codes) {
    const int run = places[i] - places[i + 1] - 1;
    coded.bits += core::run_before_code(left, run).length;
    left -= run;
  }
  return coded;
}

TEST(ProtectCipher, Places) {
  std::mt19937_64 keys(11);
  std::mt19937 random(12);
  int changed = 0, moved_to[16] = {};
  for (const int max_num_coeff : {4, 15, 16}) {
    for (int i = 0; i < 30000; ++i) {
      const std::uint32_t nonzero = random_block(random, max_num_coeff);
      const std::uint64_t key = keys();
      const std::uint32_t other = encrypt_places(nonzero, max_num_coeff, key, false);
      ASSERT_EQ(other >> max_num_coeff, 0u);
      ASSERT_EQ(core::count_ones(other), core::count_ones(nonzero));
      ASSERT_EQ(coded_zeros(other, max_num_coeff), coded_zeros(nonzero, max_num_coeff)) << nonzero;
      ASSERT_EQ(encrypt_places(other, max_num_coeff, key, true), nonzero);
      changed += other != nonzero;
      if (nonzero == 1u << 5) ++moved_to[core::highest_bit(other)];
    }
  }
  EXPECT_GT(changed, 20000);
  // With one level, the code of total_zeros 5 has the length of the code of 6 and of no other (table 9-7).
  for (int place = 0; place < 16; ++place) EXPECT_EQ(moved_to[place] > 0, place == 5 || place == 6) << place;
}

// Every block of four positions is tried with every key bit that can matter.
TEST(ProtectCipher, PlacesOfChromaDc) {
  for (std::uint32_t nonzero = 1; nonzero < 16; ++nonzero) {
    for (std::uint64_t key = 0; key < 1 << 11; ++key) {
      const std::uint32_t other = encrypt_places(nonzero, 4, key, false);
      ASSERT_EQ(coded_zeros(other, 4), coded_zeros(nonzero, 4));
      ASSERT_EQ(encrypt_places(other, 4, key, true), nonzero);
    }
  }
}

// Streams that were encrypted once must stay decryptable: a hash over every block of every kind, each under
// three keys.
TEST(ProtectCipher, PlacesStayAsTheyWere) {
  std::mt19937_64 keys(264);
  std::uint64_t sum = 0;
  for (const int max_num_coeff : {4, 15, 16}) {
    for (std::uint32_t nonzero = 1; nonzero < 1u << max_num_coeff; ++nonzero) {
      for (int i = 0; i < 3; ++i) {
        sum = (sum ^ encrypt_places(nonzero, max_num_coeff, keys(), false)) * 0x100000001b3;
      }
    }
  }
  EXPECT_EQ(sum, 0xb80eda778f1a8908u);
}

// No two blocks share a bit of the keystream, and each has as many bits as it needs.
TEST(ProtectCipher, KeyLayout) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    KeyLayout layout;
    int totals[27];
    for (int slot = 0; slot < 27; ++slot) {
      totals[slot] = i == 0 ? 16 : i == 1 ? 0 : static_cast<int>(random() % 17);
      layout.add(slot, totals[slot]);
    }
    int unit = 0;
    for (int slot = 0; slot < 27; ++slot) {
      ASSERT_EQ(layout.units_before(slot), unit);
      const int total = totals[slot], units = total == 0 ? 0 : total <= 3 ? 1 : total <= 6 ? 2 : 5;
      int needed = total;  // signs
      if (total > 0 && total < 16) needed += 4 + 3 * (total - 1) + std::max(total - 2, 0);
      ASSERT_LE(needed, 16 * units) << total;
      unit += units;
    }
    EXPECT_EQ(layout.aes_blocks(), (16 * unit + 127) / 128);
    EXPECT_LE(layout.aes_blocks(), kMaxKeyBlocks);
  }
}

// The key of a block is the bits of its units, and nothing after them is read.
TEST(ProtectCipher, BlockKeys) {
  std::mt19937 random(6);
  std::uint32_t words[8];
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  const auto bit = [&](int b) { return words[b / 32] >> (b % 32) & 1; };
  for (int total = 1; total <= 16; ++total) {
    const int units = total <= 3 ? 1 : total <= 6 ? 2 : 5;
    for (int unit = 0; unit < 3; ++unit) {
      const BlockKey key = block_key(
          [&](int i) {
            EXPECT_LE(32 * i, 16 * (unit + units) - 1);
            return words[i];
          },
          unit, total);
      for (int b = 0; b < 16 * units; ++b) {
        if (b < total) {
          ASSERT_EQ(key.signs >> b & 1, bit(16 * unit + b));
        } else if (b - total < 64) {
          ASSERT_EQ(key.places >> (b - total) & 1, bit(16 * unit + b)) << total << " levels, bit " << b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cu264::protect
