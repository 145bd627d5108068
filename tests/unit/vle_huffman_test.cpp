// Code lengths agree with Huffman's algorithm where no limit binds, and with the best of all possible codes
// where one does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "cu264/status.h"
#include "entropy/vle/huffman.h"

namespace cu264::vle {
namespace {

using Cost = long double;  // exact up to 2^64

Cost cost_of(const Histogram& histogram, const CodeLengths& lengths) {
  Cost cost = 0;
  for (int s = 0; s < kSymbols; ++s) cost += static_cast<Cost>(histogram[s]) * lengths[s];
  return cost;
}

// Huffman 1952: the cost is the sum of the weights of all inner nodes.
Cost huffman_cost(const Histogram& histogram) {
  std::priority_queue<Cost, std::vector<Cost>, std::greater<>> nodes;
  for (const std::uint64_t count : histogram) {
    if (count != 0) nodes.push(static_cast<Cost>(count));
  }
  if (nodes.size() == 1) return nodes.top();
  Cost cost = 0;
  while (nodes.size() > 1) {
    const Cost a = nodes.top();
    nodes.pop();
    const Cost b = nodes.top();
    nodes.pop();
    nodes.push(a + b), cost += a + b;
  }
  return cost;
}

// The cost of the best code within the limit, whose lengths grow as weights fall and whose Kraft sum is at
// most one.
Cost best_cost(std::vector<std::uint64_t> weights, int longest) {
  std::sort(weights.begin(), weights.end(), std::greater<>());
  Cost best = std::numeric_limits<Cost>::infinity();
  const std::function<void(std::size_t, int, int, Cost)> place = [&](std::size_t i, int shortest, int room,
                                                                     Cost cost) {
    if (i == weights.size()) {
      best = std::min(best, cost);
      return;
    }
    for (int length = shortest; length <= longest; ++length) {
      const int share = 1 << (longest - length);
      if (share <= room) place(i + 1, length, room - share, cost + static_cast<Cost>(weights[i]) * length);
    }
  };
  place(0, 1, 1 << longest, 0);
  return best;
}

int longest_of(const CodeLengths& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

// Checks bit by bit that no code is the beginning of another.
void expect_prefix_free(const CodeTable& table) {
  std::vector<std::string> codes;
  for (int s = 0; s < kSymbols; ++s) {
    std::string code;
    for (int bit = table.length[s] - 1; bit >= 0; --bit)
      code += static_cast<char>('0' + (table.code[s] >> bit & 1));
    if (!code.empty()) codes.push_back(code);
    if (table.length[s] < 32) {
      EXPECT_EQ(table.code[s] >> table.length[s], 0u) << s;
    }
  }
  std::sort(codes.begin(), codes.end());
  for (std::size_t i = 1; i < codes.size(); ++i) {
    ASSERT_NE(codes[i].compare(0, codes[i - 1].size(), codes[i - 1]), 0) << codes[i - 1] << " " << codes[i];
  }
}

Histogram fibonacci(int count) {
  Histogram histogram{};
  std::uint64_t a = 1, b = 1;
  for (int s = 0; s < count; ++s) {
    histogram[s] = a;
    const std::uint64_t next = a + b;
    a = b, b = next;
  }
  return histogram;
}

Histogram random_histogram(std::mt19937_64& random, int used, int shape) {
  Histogram histogram{};
  for (int i = 0; i < used; ++i) {
    std::uint64_t count = 1 + random() % 1000;
    if (shape == 1) count = std::uint64_t{1} << random() % 20;
    if (shape == 2) count = 1;
    if (shape == 3) count = 1 + random() % 3;
    histogram[random() % kSymbols] = count;
  }
  return histogram;
}

TEST(VleHuffman, AsGoodAsHuffmanWhereNoLimitBinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const Histogram histogram = random_histogram(random, 1 + static_cast<int>(random() % 300), round % 4);
    const CodeLengths lengths = code_lengths(histogram, 32);
    ASSERT_LT(longest_of(lengths), 32);
    ASSERT_TRUE(is_complete_code(lengths, 32));
    ASSERT_EQ(cost_of(histogram, lengths), huffman_cost(histogram)) << "round " << round;
  }
}

TEST(VleHuffman, TheBestOfAllCodesWithinTheLimit) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    Histogram histogram{};
    std::vector<std::uint64_t> weights;
    const int used = 2 + static_cast<int>(random() % 7);
    for (int i = 0; i < used; ++i) {
      weights.push_back(round % 2 == 0 ? 1 + random() % 50 : std::uint64_t{1} << (2 * i));
      histogram[i * 31] = weights.back();
    }
    for (int longest = 3; longest <= 6; ++longest) {
      const CodeLengths lengths = code_lengths(histogram, longest);
      ASSERT_LE(longest_of(lengths), longest);
      ASSERT_TRUE(is_complete_code(lengths, longest));
      ASSERT_EQ(cost_of(histogram, lengths), best_cost(weights, longest))
          << "round " << round << ", " << longest;
    }
  }
}

TEST(VleHuffman, KnownLengths) {
  Histogram histogram{};
  histogram['a'] = 1, histogram['b'] = 1, histogram['c'] = 5, histogram['d'] = 7, histogram['e'] = 10,
  histogram['f'] = 14;
  // Codes of at most 4 bits, then of at most 3.
  const CodeLengths four = code_lengths(histogram, 4), three = code_lengths(histogram, 3);
  const std::vector<int> want_four = {4, 4, 3, 2, 2, 2}, want_three = {3, 3, 3, 3, 2, 2};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(four['a' + i], want_four[i]) << i;
    EXPECT_EQ(three['a' + i], want_three[i]) << i;
  }
}

TEST(VleHuffman, FibonacciFrequencies) {
  // The deepest tree has n symbols and codes of up to n - 1 bits; then the limit binds.
  for (int n = 2; n <= 33; ++n) {
    const CodeLengths lengths = code_lengths(fibonacci(n), 32);
    EXPECT_EQ(lengths[n - 1], 1);
    EXPECT_EQ(longest_of(lengths), n - 1);
  }
  for (const int longest : {kShortCode, kLongCode}) {
    for (const int n : {34, 60, 90}) {
      const Histogram histogram = fibonacci(n);
      const CodeTable table = make_code_table(histogram, longest);
      EXPECT_EQ(longest_of(table.length), longest);
      EXPECT_TRUE(is_complete_code(table.length, longest));
      EXPECT_GT(cost_of(histogram, table.length), huffman_cost(histogram));
      expect_prefix_free(table);
    }
  }
}

TEST(VleHuffman, DegenerateAlphabets) {
  EXPECT_EQ(make_code_table({}, 16).length, CodeLengths{});
  Histogram histogram{};
  histogram[200] = 7;
  CodeTable table = make_code_table(histogram, 16);
  EXPECT_EQ(table.length[200], 1);
  EXPECT_EQ(table.code[200], 0u);
  EXPECT_EQ(std::count(table.length.begin(), table.length.end(), 0), 255);
  histogram[3] = 1;
  table = make_code_table(histogram, 1);
  EXPECT_EQ(table.length[3], 1);
  EXPECT_EQ(table.length[200], 1);
  EXPECT_EQ(table.code[3], 0u);
  EXPECT_EQ(table.code[200], 1u);
  histogram.fill(5);
  table = make_code_table(histogram, 8);
  for (int s = 0; s < kSymbols; ++s) {
    EXPECT_EQ(table.length[s], 8);
    EXPECT_EQ(table.code[s], static_cast<std::uint32_t>(s));
  }
  // Counts whose sum needs more than 64 bits.
  histogram.fill(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(code_lengths(histogram, 32)[17], 8);
}

TEST(VleHuffman, TiesFavourTheSmallerSymbol) {
  Histogram histogram{};
  for (const int s : {10, 20, 30}) histogram[s] = 4;
  const CodeTable table = make_code_table(histogram, 16);
  EXPECT_EQ(table.length[10], 1);
  EXPECT_EQ(table.length[20], 2);
  EXPECT_EQ(table.length[30], 2);
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    const Histogram counts = random_histogram(random, 256, round % 4);
    const CodeLengths lengths = code_lengths(counts, 9 + round % 8);
    for (int a = 0; a < kSymbols; ++a) {
      for (int b = a + 1; b < kSymbols; ++b) {
        if (counts[a] == counts[b]) {
          ASSERT_LE(lengths[a], lengths[b]);
        } else if (counts[b] > counts[a] && counts[a] != 0) {
          ASSERT_LE(lengths[b], lengths[a]);
        }
      }
    }
  }
}

TEST(VleHuffman, CodesAreCanonicalAndPrefixFree) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 60; ++round) {
    const CodeTable table = make_code_table(random_histogram(random, 200, round % 4), round % 2 ? 16 : 32);
    expect_prefix_free(table);
    for (int a = 0; a < kSymbols; ++a) {
      for (int b = 0; b < kSymbols; ++b) {
        if (table.length[a] == 0 || table.length[a] > table.length[b]) continue;
        if (table.length[a] == table.length[b] && a >= b) continue;
        ASSERT_LT(std::uint64_t{table.code[a]} << (32 - table.length[a]),
                  std::uint64_t{table.code[b]} << (32 - table.length[b]));
      }
    }
  }
}

TEST(VleHuffman, RefusesWhatCannotBe) {
  Histogram histogram{};
  histogram.fill(1);
  EXPECT_THROW(code_lengths(histogram, 7), Error);
  EXPECT_THROW(code_lengths(histogram, 0), Error);
  EXPECT_THROW(code_lengths(histogram, 33), Error);
  CodeLengths lengths{};
  lengths[0] = 1, lengths[1] = 2;
  EXPECT_FALSE(is_complete_code(lengths, 16));
  EXPECT_THROW(assign_codes(lengths), Error);
  lengths[2] = 2;
  EXPECT_TRUE(is_complete_code(lengths, 16));
  EXPECT_FALSE(is_complete_code(lengths, 1));
  lengths[3] = 32;
  EXPECT_FALSE(is_complete_code(lengths, 32));
  lengths = {};
  lengths[9] = 2;
  EXPECT_FALSE(is_complete_code(lengths, 16));
  lengths[9] = 33;
  EXPECT_FALSE(is_complete_code(lengths, 40));
}

}  // namespace
}  // namespace cu264::vle
