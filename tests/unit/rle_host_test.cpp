// Run-length coding in host memory: the paper's example, round trips, and refusals.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "cu264/rle.h"
#include "cu264/status.h"

namespace cu264 {
namespace {

using Integers = std::vector<std::int32_t>;
using Bytes = std::vector<std::uint8_t>;
using Lengths = std::vector<std::uint32_t>;

TEST(HostRle, ExampleOfThePaper) {
  const Integers input{1, 2, 3, 6, 6, 6, 5, 5};
  Integers symbols(5), output(8);
  Lengths lengths(5);
  ASSERT_EQ(rle::encode(input, symbols, lengths), 5u);
  EXPECT_EQ(symbols, (Integers{1, 2, 3, 6, 5}));
  EXPECT_EQ(lengths, (Lengths{1, 1, 1, 3, 2}));
  rle::decode(symbols, lengths, output);
  EXPECT_EQ(output, input);
}

TEST(HostRle, RoundTripsOfBytes) {
  std::mt19937 random(3);
  for (const std::size_t size : {0, 1, 2, 1000, 4097}) {
    for (const unsigned values : {1u, 2u, 256u}) {
      Bytes input(size), symbols(size), output(size);
      for (auto& byte : input) byte = static_cast<std::uint8_t>(random() % values);
      Lengths lengths(size);
      const std::size_t runs = rle::encode(input, symbols, lengths);
      std::size_t changes = size > 0;
      for (std::size_t i = 1; i < size; ++i) changes += input[i] != input[i - 1];
      EXPECT_EQ(runs, changes);
      symbols.resize(runs), lengths.resize(runs);
      rle::decode(symbols, lengths, output);
      EXPECT_EQ(output, input);
    }
  }
}

TEST(HostRle, WhatDoesNotFitIsRefused) {
  Bytes symbols{9, 9}, output(4);
  Lengths lengths{7, 7};
  EXPECT_THROW(rle::encode(Bytes{1, 2, 3}, symbols, lengths), Error);
  symbols = {9, 9};
  EXPECT_THROW(rle::decode(symbols, Lengths{1, 2}, output), Error);
  EXPECT_THROW(rle::decode(symbols, Lengths{4}, output), Error);
  rle::decode(symbols, Lengths{0, 4}, output);
  EXPECT_EQ(output, (Bytes{9, 9, 9, 9}));
}

}  // namespace
}  // namespace cu264
