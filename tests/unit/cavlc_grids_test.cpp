// The functions of cu264/cavlc.h on host memory: round trips, the context, and what is refused.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "core/bits.h"
#include "core/cavlc_block.h"
#include "cu264/cavlc.h"
#include "cu264/status.h"
#include "tests/support/cavlc_cases.h"

namespace cu264 {
namespace {

using cavlc::Grids;

struct Stream {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> index;
  std::uint64_t bits = 0;
};

Stream encode(const Grids& grids, const std::vector<std::int16_t>& levels,
              const std::vector<std::uint8_t>& nC = {}) {
  Stream stream;
  stream.bytes.resize(cavlc::max_stream_bytes(grids));
  stream.index.resize(grids.count + 1);
  stream.bits = cavlc::encode(grids, levels, nC, stream.bytes, stream.index);
  stream.bytes.resize(cavlc::stream_bytes(stream.bits));
  return stream;
}

void expect_round_trip(const Grids& grids, const std::vector<std::int16_t>& levels,
                       const std::vector<std::uint8_t>& nC = {}) {
  const Stream stream = encode(grids, levels, nC);
  EXPECT_EQ(stream.index.front(), 0u);
  EXPECT_EQ(stream.index.back(), stream.bits);
  std::vector<std::int16_t> decoded(levels.size(), 77);
  cavlc::decode(grids, stream.bytes, stream.index, nC, decoded);
  EXPECT_EQ(decoded, levels);
}

std::vector<std::int16_t> random_levels(const Grids& grids, int density, int largest, std::mt19937& random) {
  std::vector<std::int16_t> levels(grids.blocks() * cavlc::kBlockLevels);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (static_cast<int>(random() % 256) >= density || static_cast<int>(i % 16) >= grids.levels) continue;
    levels[i] = static_cast<std::int16_t>(static_cast<int>(random() % (2 * largest + 1)) - largest);
  }
  return levels;
}

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(CavlcGrids, RoundTripsOfAllShapes) {
  std::mt19937 random(1);
  for (const int levels : {15, 16}) {
    for (const Grids& grids : {Grids{1, 1, 1, levels}, Grids{1, 1, 0, levels}, Grids{7, 5, 3, levels},
                               Grids{1, 40, 2, levels}, Grids{40, 1, 2, levels}, Grids{1, 1, 50, levels}}) {
      for (const int density : {0, 20, 128, 256}) {
        for (const int largest : {1, 3, 40, cavlc::kMaxLevel})
          expect_round_trip(grids, random_levels(grids, density, largest, random));
      }
    }
  }
}

TEST(CavlcGrids, EveryContextAndEscape) {
  for (const int most : {15, 16}) {
    const test::CavlcBlocks blocks = test::every_context_and_escape(most);
    const Grids grids{static_cast<int>(blocks.nC.size()), 1, 1, most};
    expect_round_trip(grids, blocks.levels, blocks.nC);
    expect_round_trip(grids, blocks.levels);
  }
}

// Computed contexts are those of H.264 9.2.1, block by block.
TEST(CavlcGrids, ContextComesFromTheNeighbours) {
  std::mt19937 random(3);
  const Grids grids{6, 4, 2};
  const std::vector<std::int16_t> levels = random_levels(grids, 100, 5, random);
  const auto count = [&](int block) {
    int nonzero = 0;
    for (int k = 0; k < 16; ++k) nonzero += levels[16 * block + k] != 0;
    return nonzero;
  };
  std::vector<std::uint8_t> nC;
  for (int block = 0; block < 48; ++block) {
    const int x = block % 6, y = block / 6 % 4, left = x > 0 ? count(block - 1) : -1;
    const int above = y > 0 ? count(block - 6) : -1;
    nC.push_back(static_cast<std::uint8_t>(left >= 0 && above >= 0 ? (left + above + 1) / 2
                                           : left >= 0             ? left
                                           : above >= 0            ? above
                                                                   : 0));
  }
  EXPECT_EQ(encode(grids, levels).bytes, encode(grids, levels, nC).bytes);
  EXPECT_EQ(encode(grids, levels).index, encode(grids, levels, nC).index);
}

// The worked example of the CAVLCU paper, section 2.2: nC is 5.
TEST(CavlcGrids, WorkedExample) {
  const std::vector<std::int16_t> levels = {5, 1, 0, -1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const Stream stream = encode({}, levels, {5});
  EXPECT_EQ(stream.bits, 22u);
  EXPECT_EQ(stream.bytes, (std::vector<std::uint8_t>{0b10100011, 0b00001000, 0b11011000}));
}

TEST(CavlcGrids, RefusesWhatItCannotCode) {
  const auto refused = [](const Grids& grids, const std::vector<std::int16_t>& levels,
                          const std::vector<std::uint8_t>& nC = {}) {
    return code_of([&] { encode(grids, levels, nC); });
  };
  std::vector<std::int16_t> levels(32);
  const Grids two{2, 1};
  EXPECT_EQ(refused({0, 1}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({2, 1, 1, 4}, levels), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({3, 1}, levels), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(two, levels, {1}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(two, levels, {1, 17}), ErrorCode::invalid_argument);
  for (const int level : {2064, -2064, 32767, -32768}) {
    levels[20] = static_cast<std::int16_t>(level);
    EXPECT_EQ(refused(two, levels), ErrorCode::invalid_argument);
  }
  levels[20] = 0, levels[31] = 1;
  EXPECT_EQ(refused({2, 1, 1, 15}, levels), ErrorCode::invalid_argument);
  const Stream whole = encode(two, levels);
  Stream small = whole;
  small.bytes.pop_back();
  EXPECT_EQ(code_of([&] { cavlc::encode(two, levels, {}, small.bytes, small.index); }),
            ErrorCode::bad_output);
}

// Damaged streams are refused or decoded to something, and nothing is read or written elsewhere (the
// sanitizers watch). A grid that ends elsewhere is always noticed.
TEST(CavlcGrids, DamagedStreams) {
  std::mt19937 random(7);
  const Grids grids{5, 4, 6};
  const std::vector<std::int16_t> levels = random_levels(grids, 90, 30, random);
  const Stream good = encode(grids, levels);
  std::vector<std::int16_t> decoded(levels.size());
  int refusals = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Stream stream = good;
    stream.bytes[random() % stream.bytes.size()] ^= static_cast<std::uint8_t>(1u << random() % 8);
    if (trial % 4 == 0) stream.bytes.resize(random() % stream.bytes.size());
    if (trial % 4 == 1) stream.index[random() % stream.index.size()] = random();
    try {
      cavlc::decode(grids, stream.bytes, stream.index, {}, decoded);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      ++refusals;
    }
  }
  EXPECT_GT(refusals, 200);
  Stream stream = good;
  ++stream.index[3];
  EXPECT_EQ(code_of([&] { cavlc::decode(grids, stream.bytes, stream.index, {}, decoded); }),
            ErrorCode::bad_input);
}

}  // namespace
}  // namespace cu264
