// Prefix sums and compaction in host memory, case by case.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "cu264/scan.h"
#include "cu264/status.h"

namespace cu264 {
namespace {

using scan::Kind;
using Words = std::vector<std::uint32_t>;

TEST(HostScan, SumsOfEachKindWrapOrGrow) {
  const Words input{3, 0xffffffff, 5, 0};
  Words sums(4);
  scan::prefix_sum(input, sums, Kind::exclusive);
  EXPECT_EQ(sums, (Words{0, 3, 2, 7}));
  scan::prefix_sum(input, sums, Kind::inclusive);
  EXPECT_EQ(sums, (Words{3, 2, 7, 7}));
  std::vector<std::uint64_t> long_sums(4);
  scan::prefix_sum(input, long_sums, Kind::exclusive);
  EXPECT_EQ(long_sums, (std::vector<std::uint64_t>{0, 3, 0x100000002, 0x100000007}));
}

TEST(HostScan, InPlaceAsByTheStandardLibrary) {
  Words words(1001);
  std::iota(words.begin(), words.end(), 1u);
  Words expected(words.size());
  std::exclusive_scan(words.begin(), words.end(), expected.begin(), 0u);
  scan::prefix_sum(words, words, Kind::exclusive);
  EXPECT_EQ(words, expected);
}

TEST(HostScan, SelectsByFlagAndByValue) {
  const Words input{7, 0, 9, 4};
  const std::vector<std::uint8_t> flags{0, 255, 0, 1};
  Words output(4, 99);
  EXPECT_EQ(scan::select(input, flags, output), 2u);
  EXPECT_EQ(output, (Words{0, 4, 99, 99}));
  EXPECT_EQ(scan::select_nonzero(input, output), 3u);
  EXPECT_EQ(output, (Words{7, 9, 4, 99}));
  std::vector<std::uint8_t> bytes(4, 1);
  EXPECT_EQ(scan::select_nonzero(flags, bytes), 2u);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{255, 1, 1, 1}));
}

TEST(HostScan, EmptyAndRefused) {
  EXPECT_EQ(scan::select_nonzero(Words{}, std::span<std::uint32_t>()), 0u);
  Words three(3), two(2, 5);
  EXPECT_THROW(scan::prefix_sum(three, two, Kind::inclusive), Error);
  EXPECT_THROW(scan::select(three, std::vector<std::uint8_t>{1, 1}, three), Error);
  EXPECT_THROW(scan::select_nonzero(Words{1, 2, 3}, two), Error);
  EXPECT_EQ(two, (Words{5, 5}));
}

}  // namespace
}  // namespace cu264
