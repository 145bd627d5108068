// Inputs and streams beyond 4 GiB, of data without a period. All encoders give the same stream. Its length
// follows from the histogram, its bits are those of an encoder written here, at both ends and wherever a
// count passes 32 bits, and it decodes to the input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "entropy/vle/published/published_encoders.h"
#include "tests/parity/device_test.h"
#include "tests/parity/vle_device.h"
#include "tests/parity/vle_large_device.h"

namespace cu264::parity {
namespace {

constexpr std::uint64_t kFourGi = std::uint64_t{1} << 32;

// Codes of 7 bits, and codes of 14 bits that begin with seven ones: more than 8 bits on average, so that the
// stream is beyond 4 GiB too.
vle::CodeTable long_table() {
  vle::CodeTable table;
  for (unsigned symbol = 0; symbol < kLargeSymbols; ++symbol) {
    const bool is_short = symbol < 127;
    table.length[symbol] = is_short ? 7 : 14;
    table.code[symbol] = is_short ? symbol : 127u << 7 | (symbol - 127);
  }
  return table;
}

class VleLargeParity : public DeviceTest {
 protected:
  static void expect_chunk(const LargeRun& run, const vle::CodeTable& table, std::uint64_t size,
                           const std::vector<std::uint64_t>& index, std::uint64_t chunk) {
    const std::uint64_t first = chunk * vle::kChunkSymbols,
                        last = std::min<std::uint64_t>(first + vle::kChunkSymbols, size);
    const std::uint64_t begin = index[chunk],
                        end = chunk + 1 < index.size() ? index[chunk + 1] : run.result().bits;
    const std::vector<std::uint8_t> bytes = run.stream(begin / 8, (end + 7) / 8 - begin / 8);
    std::uint64_t at = begin % 8;
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint8_t symbol = large_symbol(i);
      for (int bit = table.length[symbol] - 1; bit >= 0; --bit, ++at) {
        ASSERT_LT(at / 8, bytes.size()) << "chunk " << chunk;
        ASSERT_EQ(bytes[at / 8] >> (7 - at % 8) & 1, table.code[symbol] >> bit & 1)
            << "symbol " << i << ", bit " << begin - begin % 8 + at;
      }
    }
    EXPECT_EQ(at, begin % 8 + (end - begin)) << "chunk " << chunk;
  }

  static void expect_right(std::uint64_t size) {
    const vle::CodeTable table = long_table();
    // The average is 10.5 bits for each symbol.
    const std::uint64_t capacity = (size / 4 * 6 + 1024) / 4 * 4;
    if (!LargeRun::fits(size, capacity)) GTEST_SKIP() << "too little memory on the device";
    const LargeRun run(table, size, capacity);
    const vle::EncodeResult result = run.result();
    const auto histogram = run.histogram();
    std::uint64_t symbols = 0, bits = 0;
    for (int i = 0; i < vle::kSymbols; ++i) symbols += histogram[i], bits += histogram[i] * table.length[i];
    EXPECT_EQ(symbols, size);
    ASSERT_EQ(result.bits, bits);
    ASSERT_EQ(result.missing, 0u);
    ASSERT_LE(bits, capacity * 8);

    const std::vector<std::uint64_t> index = run.index();
    ASSERT_TRUE(std::is_sorted(index.begin(), index.end()));
    std::set<std::uint64_t> chunks{0, index.size() - 1};
    for (const std::uint64_t symbol : {kFourGi - 1, kFourGi}) chunks.insert(symbol / vle::kChunkSymbols);
    for (const std::uint64_t bit : {kFourGi, kFourGi * 8}) {  // the latter is byte 2^32
      chunks.insert(
          static_cast<std::uint64_t>(std::upper_bound(index.begin(), index.end(), bit) - index.begin() - 1));
    }
    for (const std::uint64_t chunk : chunks) {
      if (chunk >= index.size()) continue;
      ASSERT_NO_FATAL_FAILURE(expect_chunk(run, table, size, index, chunk));
    }

    for (const vle::DeviceEncoder& encoder : vle::device_encoders()) {
      const auto compared = run.compare(encoder);
      if (!compared) {
        std::printf("left out, too little memory: %s\n", encoder.name);
        continue;
      }
      EXPECT_EQ(compared->result.bits, bits) << encoder.name;
      EXPECT_EQ(compared->result.missing, 0u) << encoder.name;
      EXPECT_EQ(compared->differences, 0u) << encoder.name;
    }
    for (const bool with_index : {true, false}) {
      const LargeRun::Decoded decoded = run.decode(with_index);
      EXPECT_EQ(decoded.result.corrupt, 0u) << (with_index ? "with index" : "without index");
      EXPECT_EQ(decoded.result.symbols, size);
      EXPECT_EQ(decoded.wrong, 0u) << (with_index ? "with index" : "without index");
    }
  }
};

// Checks that the test itself works, even where memory is scarce.
TEST_F(VleLargeParity, Small) {
  expect_right(300001);
}

TEST_F(VleLargeParity, BeyondFourGiB) {
  expect_right(kFourGi + 54321);
}

}  // namespace
}  // namespace cu264::parity
