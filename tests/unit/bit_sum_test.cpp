// Sums of overlapping bit strings against sums bit by bit.
#include "core/bit_sum.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace cu264::core;

using Words = std::vector<std::uint32_t>;

// Adds `piece` to `sum`, bit `position` from its beginning on, from the last bit to the first.
void add_bit_by_bit(Words& sum, const Words& piece, std::size_t position) {
  int carry = 0;
  for (std::size_t at = position + 32 * piece.size(); at-- > 0;) {
    const std::size_t i = at - position;  // wraps in front of the piece
    const int own = at < position ? 0 : static_cast<int>(piece[i / 32] >> (31 - i % 32) & 1);
    const int total = own + carry + static_cast<int>(sum[at / 32] >> (31 - at % 32) & 1);
    const std::uint32_t bit = 1u << (31 - at % 32);
    sum[at / 32] = (total & 1) != 0 ? sum[at / 32] | bit : sum[at / 32] & ~bit;
    carry = total >> 1;
  }
  ASSERT_EQ(carry, 0);
}

void add_moved(Words& sum, const Words& piece, std::size_t position) {
  const auto add = [&sum](std::ptrdiff_t at, std::uint32_t value) {
    std::uint32_t& word = sum.at(static_cast<std::size_t>(at));
    word += value;
    return word < value;
  };
  for (std::size_t i = 0; i <= piece.size(); ++i) {
    const std::uint32_t value = moved_word(i > 0 ? piece[i - 1] : 0, i < piece.size() ? piece[i] : 0,
                                           static_cast<int>(position % 32));
    if (value != 0) add_to_sum(static_cast<std::ptrdiff_t>(position / 32 + i), value, add);
  }
}

TEST(BitSum, MovedWords) {
  EXPECT_EQ(moved_word(0x12345678, 0x9abcdef0, 0), 0x9abcdef0u);
  EXPECT_EQ(moved_word(0x12345678, 0x9abcdef0, 4), 0x89abcdefu);
  EXPECT_EQ(moved_word(0x12345678, 0x9abcdef0, 31), 0x12345678u << 1 | 1u);
}

TEST(BitSum, CarriesGoThroughWordsOfOnes) {
  Words sum{7, ~0u, ~0u, ~0u, 5};
  add_moved(sum, {1}, 96);
  EXPECT_EQ(sum, (Words{8, 0, 0, 0, 5}));
}

// Words of ones are frequent, and so are carries through many words.
TEST(BitSum, RandomPieces) {
  std::mt19937 random(264);
  for (int round = 0; round < 200; ++round) {
    Words expected(40, 0), actual = expected;
    for (int i = 0; i < 12; ++i) {
      Words piece(1 + random() % 8);
      for (std::uint32_t& word : piece) word = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : ~0u;
      const std::size_t position = 64 + random() % (32 * (expected.size() - 3 - piece.size()));
      ASSERT_NO_FATAL_FAILURE(add_bit_by_bit(expected, piece, position));
      add_moved(actual, piece, position);
      ASSERT_EQ(actual, expected) << "round " << round << ", piece " << i << " at " << position;
    }
  }
}

}  // namespace
