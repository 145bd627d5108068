// The functions of cu264/cavlc.h on device memory give what those on host memory give.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "cu264/cavlc.h"
#include "cu264/status.h"
#include "tests/parity/device_test.h"
#include "tests/parity/guarded_array.cuh"
#include "tests/support/cavlc_cases.h"

namespace cu264::parity {
namespace {

using cavlc::DeviceResult;
using cavlc::Grids;

struct Case {
  Grids grids;
  std::vector<std::int16_t> levels;
  std::vector<std::uint8_t> nC;
};

// The host's result.
struct Stream {
  explicit Stream(const Case& c) : bytes(cavlc::max_stream_bytes(c.grids)), index(c.grids.count + 1) {
    bits = cavlc::encode(c.grids, c.levels, c.nC, bytes, index);
    bytes.resize(cavlc::stream_bytes(bits));
  }
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> index;
  std::uint64_t bits = 0;
};

Case make_case(const Grids& grids, int density, int largest, bool give_nC, std::mt19937& random) {
  Case c{grids, std::vector<std::int16_t>(grids.blocks() * cavlc::kBlockLevels), {}};
  for (std::size_t i = 0; i < c.levels.size(); ++i) {
    if (static_cast<int>(random() % 256) >= density || static_cast<int>(i % 16) >= grids.levels) continue;
    c.levels[i] = static_cast<std::int16_t>(static_cast<int>(random() % (2 * largest + 1)) - largest);
  }
  for (std::uint64_t i = 0; give_nC && i < grids.blocks(); ++i)
    c.nC.push_back(static_cast<std::uint8_t>(random() % 17));
  return c;
}

std::size_t padded(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// Arrays of the inputs; empty ones keep one element, since nothing reads it.
template <class T>
struct Input {
  explicit Input(const std::vector<T>& values)
      : given(!values.empty()), array(given ? values : std::vector<T>(1)) {}
  const T* data() const { return given ? array.data() : nullptr; }
  bool given;
  DeviceArray<T> array;
};

struct Encoded {
  std::vector<std::uint8_t> bytes;  // of the whole capacity
  std::vector<std::uint64_t> index;
  DeviceResult result;
};

Encoded encode_on_device(const Case& c, std::size_t capacity) {
  const Input<std::int16_t> levels(c.levels);
  const Input<std::uint8_t> nC(c.nC);
  const GuardedArray<std::uint8_t> stream(capacity, 0);
  const GuardedArray<std::uint64_t> index(c.grids.count + 1, 0);
  const DeviceArray<DeviceResult> result(1);
  const cavlc::DeviceEncode call{c.grids,  levels.data(), nC.data(),    stream.data(),
                                 capacity, index.data(),  result.data()};
  call_with_scratch(
      [&](void* d_scratch, std::size_t& size) { cavlc::device_encode(d_scratch, size, call, nullptr); });
  return {stream.written(capacity), index.written(c.grids.count + 1), result.download()[0]};
}

std::vector<std::int16_t> decode_on_device(const Case& c, const std::vector<std::uint8_t>& bytes,
                                           const std::vector<std::uint64_t>& index, DeviceResult& result) {
  const OffsetInput<std::uint8_t> stream(bytes, 4);
  const DeviceArray<std::uint64_t> d_index(index);
  const Input<std::uint8_t> nC(c.nC);
  const GuardedArray<std::int16_t> levels(c.levels.size(), 0);
  const DeviceArray<DeviceResult> d_result(1);
  const cavlc::DeviceDecode call{c.grids,   stream.data(), bytes.size(),   d_index.data(),
                                 nC.data(), levels.data(), d_result.data()};
  call_with_scratch(
      [&](void* d_scratch, std::size_t& size) { cavlc::device_decode(d_scratch, size, call, nullptr); });
  result = d_result.download()[0];
  return levels.written(c.levels.size());
}

class CavlcGridsParity : public DeviceTest {
 protected:
  void expect_parity(const Case& c) {
    const Stream host(c);
    // No more memory than the stream needs.
    Encoded device = encode_on_device(c, padded(host.bytes.size()));
    EXPECT_EQ(device.result.failure, 0u);
    EXPECT_EQ(device.result.bits, host.bits);
    EXPECT_EQ(device.index, host.index);
    while (device.bytes.size() > host.bytes.size()) {
      EXPECT_EQ(device.bytes.back(), 0);
      device.bytes.pop_back();
    }
    ASSERT_TRUE(device.bytes == host.bytes);
    if (c.levels.empty()) return;
    DeviceResult result;
    ASSERT_TRUE(decode_on_device(c, host.bytes, host.index, result) == c.levels);
    EXPECT_EQ(result.failure, 0u);
    EXPECT_EQ(result.bits, host.bits);
  }

  std::mt19937 random_{19};
};

TEST_F(CavlcGridsParity, AllShapes) {
  for (const int levels : {15, 16}) {
    for (const bool give_nC : {false, true}) {
      for (const Grids& grids : {Grids{1, 1, 1, levels}, Grids{1, 1, 300, levels}, Grids{127, 1, 2, levels},
                                 Grids{128, 2, 1, levels}, Grids{129, 3, 1, levels}, Grids{1, 200, 2, levels},
                                 Grids{16, 9, 3, levels}, Grids{300, 2, 1, levels}}) {
        for (const int density : {0, 12, 128, 256}) {
          for (const int largest : {1, 40, cavlc::kMaxLevel}) {
            SCOPED_TRACE(testing::Message() << grids.width << "x" << grids.height << ", " << grids.count
                                            << " grids of " << levels << ", density " << density
                                            << ", largest " << largest << (give_nC ? ", nC given" : ""));
            ASSERT_NO_FATAL_FAILURE(expect_parity(make_case(grids, density, largest, give_nC, random_)));
          }
        }
      }
    }
  }
}

TEST_F(CavlcGridsParity, EveryContextAndEscape) {
  for (const int most : {15, 16}) {
    const test::CavlcBlocks blocks = test::every_context_and_escape(most);
    const Grids grids{16, 1 + most, 17, most};
    expect_parity(Case{grids, blocks.levels, blocks.nC});
    expect_parity(Case{grids, blocks.levels, {}});
  }
}

TEST_F(CavlcGridsParity, NoGrids) {
  EXPECT_NO_FATAL_FAILURE(expect_parity(Case{{3, 2, 0}, {}, {}}));
}

TEST_F(CavlcGridsParity, Large) {
  for (const Grids& grids : {Grids{480, 270, 4}, Grids{8, 8, 9000}}) {
    ASSERT_NO_FATAL_FAILURE(expect_parity(make_case(grids, 40, 20, false, random_)));
    ASSERT_NO_FATAL_FAILURE(expect_parity(make_case(grids, 250, cavlc::kMaxLevel, false, random_)));
  }
}

TEST_F(CavlcGridsParity, FailuresAreReported) {
  const auto failure = [](ErrorCode code) { return static_cast<std::uint32_t>(code); };
  Case c = make_case({20, 10, 3, 15}, 100, 30, true, random_);
  const Stream host(c);
  const std::size_t capacity = padded(host.bytes.size());
  EXPECT_EQ(encode_on_device(c, capacity).result.failure, 0u);
  const Encoded small = encode_on_device(c, capacity - 4);
  EXPECT_EQ(small.result.failure, failure(ErrorCode::bad_output));
  EXPECT_EQ(small.result.bits, host.bits);
  EXPECT_TRUE(std::equal(small.bytes.begin(), small.bytes.end(), host.bytes.begin()));
  for (const int level : {2064, -2064, 32767, -32768}) {
    Case wrong = c;
    wrong.levels[16 * 333 + 4] = static_cast<std::int16_t>(level);
    EXPECT_EQ(encode_on_device(wrong, capacity + 64).result.failure, failure(ErrorCode::invalid_argument));
  }
  Case wrong = c;
  wrong.levels[16 * 400 + 15] = 1;
  EXPECT_EQ(encode_on_device(wrong, capacity + 64).result.failure, failure(ErrorCode::invalid_argument));
  wrong = c;
  wrong.nC[7] = 17;
  EXPECT_EQ(encode_on_device(wrong, capacity + 64).result.failure, failure(ErrorCode::invalid_argument));
}

// The device refuses damaged streams where the host does.
TEST_F(CavlcGridsParity, DamagedStreams) {
  const Case c = make_case({5, 4, 6}, 90, 30, false, random_);
  const Stream good(c);
  std::vector<std::int16_t> on_host(c.levels.size());
  for (int trial = 0; trial < 60; ++trial) {
    Stream stream = good;
    stream.bytes[random_() % stream.bytes.size()] ^= static_cast<std::uint8_t>(1u << random_() % 8);
    if (trial % 4 == 0) stream.bytes.resize(1 + random_() % (stream.bytes.size() - 1));
    if (trial % 4 == 1) stream.index[random_() % stream.index.size()] = random_();
    bool refused = false;
    try {
      cavlc::decode(c.grids, stream.bytes, stream.index, {}, on_host);
    } catch (const Error&) {
      refused = true;
    }
    DeviceResult result;
    const std::vector<std::int16_t> levels = decode_on_device(c, stream.bytes, stream.index, result);
    ASSERT_EQ(result.failure, refused ? static_cast<std::uint32_t>(ErrorCode::bad_input) : 0u) << trial;
    if (!refused) {
      EXPECT_TRUE(levels == on_host) << trial;
    }
  }
}

}  // namespace
}  // namespace cu264::parity
