// The code tables are uniquely decodable, and the codes that they leave unused are exactly those of the
// standard.

#include "core/cavlc_tables.h"

#include <gtest/gtest.h>
#include <algorithm>

#include <string>
#include <vector>

#include "bit_string.h"

namespace {

using namespace cu264::core;
using namespace cu264::test;

std::string text(const CodeWord& code) {
  return binary(code.bits, code.length);
}

// The shortest word of each gap in a prefix-free set: no code begins with it, and it begins with no code.
void find_gaps(const std::vector<std::string>& codes, const std::string& prefix,
               std::vector<std::string>& gaps) {
  bool inside = false;
  for (const std::string& code : codes) {
    if (code == prefix) return;
    inside |= code.starts_with(prefix);
  }
  if (!inside) {
    gaps.push_back(prefix);
    return;
  }
  find_gaps(codes, prefix + '0', gaps);
  find_gaps(codes, prefix + '1', gaps);
}

// Checks that the codes are prefix-free and have the given gaps; together these prove the Kraft sum.
void expect_code(const std::vector<CodeWord>& words, const std::vector<std::string>& unused,
                 const std::string& name) {
  std::vector<std::string> codes;
  for (const CodeWord& word : words) {
    ASSERT_GT(word.length, 0) << name << ", symbol " << codes.size();
    ASSERT_LE(word.length, 16) << name << ", symbol " << codes.size();
    ASSERT_EQ(word.bits >> word.length, 0) << name << ", symbol " << codes.size();
    codes.push_back(text(word));
  }
  double kraft_sum = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    kraft_sum += 1.0 / static_cast<double>(1 << codes[i].size());
    for (std::size_t k = 0; k < codes.size(); ++k) {
      EXPECT_FALSE(i != k && codes[k].starts_with(codes[i]))
          << name << ": " << codes[i] << " (" << i << ") begins " << codes[k] << " (" << k << ')';
    }
  }
  for (const std::string& gap : unused) kraft_sum += 1.0 / static_cast<double>(1 << gap.size());
  EXPECT_EQ(kraft_sum, 1.0) << name;
  std::vector<std::string> gaps;
  find_gaps(codes, "", gaps);
  EXPECT_EQ(gaps, unused) << name;
}

std::vector<CodeWord> coeff_tokens(int column, int max_num_coeff) {
  std::vector<CodeWord> codes;
  for (int total_coeff = 0; total_coeff <= max_num_coeff; ++total_coeff) {
    for (int ones = 0; ones <= 3 && ones <= total_coeff; ++ones) {
      codes.push_back(coeff_token_code(column, total_coeff, ones));
    }
  }
  return codes;
}

TEST(CavlcTables, ColumnOfNc) {
  EXPECT_EQ(coeff_token_column(-1), 4);
  const int expected[17] = {0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3};
  for (int nC = 0; nC <= 16; ++nC) EXPECT_EQ(coeff_token_column(nC), expected[nC]) << "nC " << nC;
}

TEST(CavlcTables, CoeffToken) {
  // Long runs of zeros stay unused, because they belong to start codes.
  expect_code(coeff_tokens(0, 16), {std::string(15, '0')}, "0 <= nC < 2");
  expect_code(coeff_tokens(1, 16), {std::string(13, '0')}, "2 <= nC < 4");
  expect_code(coeff_tokens(2, 16), {std::string(10, '0')}, "4 <= nC < 8");
  expect_code(coeff_tokens(3, 16), {"000010", "000111"}, "8 <= nC");
  expect_code(coeff_tokens(4, 4), {}, "nC == -1");
}

TEST(CavlcTables, CoeffTokenOfManyCoefficientsIsSixBits) {
  EXPECT_EQ(text(coeff_token_code(3, 0, 0)), "000011");
  for (int total_coeff = 1; total_coeff <= 16; ++total_coeff) {
    for (int ones = 0; ones <= 3 && ones <= total_coeff; ++ones) {
      EXPECT_EQ(text(coeff_token_code(3, total_coeff, ones)), binary(total_coeff - 1, 4) + binary(ones, 2));
    }
  }
}

TEST(CavlcTables, CoeffTokenHasNoMoreOnesThanCoefficients) {
  for (int column = 0; column < 3; ++column) {
    for (int total_coeff = 0; total_coeff < 3; ++total_coeff) {
      for (int ones = total_coeff + 1; ones <= 3; ++ones) {
        EXPECT_EQ(coeff_token_code(column, total_coeff, ones).length, 0)
            << "column " << column << ' ' << total_coeff << ' ' << ones;
      }
    }
  }
}

TEST(CavlcTables, TotalZeros) {
  for (int total_coeff = 1; total_coeff <= 15; ++total_coeff) {
    std::vector<CodeWord> codes;
    for (int zeros = 0; zeros <= 16 - total_coeff; ++zeros) {
      codes.push_back(total_zeros_code(total_coeff, zeros));
    }
    const std::vector<std::string> unused =
        total_coeff == 1 ? std::vector<std::string>{"000000000"} : std::vector<std::string>{};
    expect_code(codes, unused, "total_zeros, TotalCoeff " + std::to_string(total_coeff));
  }
}

TEST(CavlcTables, ChromaDcTotalZeros) {
  for (int total_coeff = 1; total_coeff <= 3; ++total_coeff) {
    std::vector<CodeWord> codes;
    for (int zeros = 0; zeros <= 4 - total_coeff; ++zeros) {
      codes.push_back(chroma_dc_total_zeros_code(total_coeff, zeros));
    }
    expect_code(codes, {}, "chroma DC total_zeros, TotalCoeff " + std::to_string(total_coeff));
  }
}

TEST(CavlcTables, RunBefore) {
  for (int zeros_left = 1; zeros_left <= 14; ++zeros_left) {
    std::vector<CodeWord> codes;
    const int symbols = zeros_left > 6 ? 15 : zeros_left + 1;  // values above 6 share one column
    for (int run = 0; run < symbols; ++run) codes.push_back(run_before_code(zeros_left, run));
    const std::vector<std::string> unused =
        zeros_left > 6 ? std::vector<std::string>{std::string(11, '0')} : std::vector<std::string>{};
    expect_code(codes, unused, "run_before, zerosLeft " + std::to_string(zeros_left));
  }
}

TEST(CavlcTables, LengthsOfRunsWithoutTheTable) {
  for (int zeros_left = 1; zeros_left <= 15; ++zeros_left) {
    for (int run = 0; run <= std::min(zeros_left, 14); ++run) {
      EXPECT_EQ(run_before_length(zeros_left, run), run_before_code(zeros_left, run).length)
          << "zerosLeft " << zeros_left << ", run_before " << run;
    }
  }
}

// Single rows of each table as the standard prints them, because a permuted column would pass the tests
// above.
TEST(CavlcTables, SamplesOfTheStandard) {
  EXPECT_EQ(text(coeff_token_code(0, 0, 0)), "1");
  EXPECT_EQ(text(coeff_token_code(0, 3, 3)), "00011");
  EXPECT_EQ(text(coeff_token_code(0, 13, 1)), "000000000000001");
  EXPECT_EQ(text(coeff_token_code(0, 16, 0)), "0000000000000100");
  EXPECT_EQ(text(coeff_token_code(1, 15, 3)), "0000000000001");
  EXPECT_EQ(text(coeff_token_code(1, 7, 0)), "00000001111");
  EXPECT_EQ(text(coeff_token_code(2, 13, 1)), "000000111");
  EXPECT_EQ(text(coeff_token_code(2, 5, 3)), "1010");
  EXPECT_EQ(text(coeff_token_code(4, 4, 3)), "0000000");
  EXPECT_EQ(text(total_zeros_code(1, 0)), "1");
  EXPECT_EQ(text(total_zeros_code(1, 15)), "000000001");
  EXPECT_EQ(text(total_zeros_code(4, 2)), "0101");
  EXPECT_EQ(text(total_zeros_code(9, 7)), "00001");
  EXPECT_EQ(text(chroma_dc_total_zeros_code(1, 3)), "000");
  EXPECT_EQ(text(run_before_code(6, 1)), "000");
  EXPECT_EQ(text(run_before_code(7, 14)), "00000000001");
}

}  // namespace
