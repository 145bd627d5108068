// Run-length coding on the GPU gives the results of loops written here.
#include <gtest/gtest.h>

#include <random>

#include "cu264/rle.h"
#include "cu264/status.h"
#include "entropy/rle/published/parle.h"
#include "tests/parity/device_test.h"
#include "tests/parity/guarded_array.cuh"

namespace cu264::parity {
namespace {

class RleParity : public DeviceTest {};

constexpr int kRepeats = 3;

template <class T>
struct Runs {
  std::vector<T> symbols;
  std::vector<std::uint32_t> lengths;
};

template <class T>
Runs<T> runs_of(const std::vector<T>& input) {
  Runs<T> runs;
  for (const T symbol : input) {
    if (runs.symbols.empty() || runs.symbols.back() != symbol) {
      runs.symbols.push_back(symbol);
      runs.lengths.push_back(0);
    }
    ++runs.lengths.back();
  }
  return runs;
}

// Runs of at most `most` symbols; with 0, a single run.
template <class T>
std::vector<T> input_of(std::size_t size, unsigned most) {
  std::mt19937 random(static_cast<unsigned>(size * 31 + most));
  std::vector<T> input(size);
  T symbol{};
  for (std::size_t i = 0; i < size;) {
    symbol = most == 1 ? static_cast<T>(symbol + 1) : static_cast<T>(random());
    const std::size_t end = most == 0 ? size : std::min(size, i + 1 + random() % most);
    for (; i < end; ++i) input[i] = symbol;
  }
  return input;
}

template <class T>
void expect_runs(const std::vector<T>& input, std::size_t offset) {
  SCOPED_TRACE(testing::Message() << input.size() << " symbols of " << sizeof(T) << " bytes at " << offset);
  const Runs<T> expected = runs_of(input);
  const std::size_t runs = expected.symbols.size();
  const OffsetInput<T> d_input(input, offset);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const bool published : {false, true}) {
      const GuardedArray<T> d_symbols(input.size(), offset);
      const GuardedArray<std::uint32_t> d_lengths(input.size(), offset % 3);
      const GuardedArray<std::uint64_t> d_runs(1, 0);
      call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
        if (!published) {
          rle::device_encode(d_scratch, bytes, d_input.data(), input.size(), d_symbols.data(),
                             d_lengths.data(), d_runs.data(), nullptr);
        } else if (d_scratch == nullptr) {
          bytes = rle::parle_scratch_bytes(input.size());
        } else {
          rle::launch_parle(rle::EncodeArrays<T>{d_input.data(), input.size(), d_symbols.data(),
                                                 d_lengths.data(), d_runs.data()},
                            d_scratch, nullptr);
        }
      });
      ASSERT_EQ(d_runs.written(1)[0], runs) << (published ? "PARLE" : "one pass");
      ASSERT_TRUE(d_symbols.written(runs) == expected.symbols) << (published ? "PARLE" : "one pass");
      ASSERT_TRUE(d_lengths.written(runs) == expected.lengths) << (published ? "PARLE" : "one pass");
    }
  }
  const GuardedArray<T> d_output(input.size(), offset);
  const GuardedArray<std::uint64_t> d_total(1, 0);
  const DeviceArray<T> d_symbols(expected.symbols);
  const DeviceArray<std::uint32_t> d_lengths(expected.lengths);
  call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
    rle::device_decode(d_scratch, bytes, d_symbols.data(), d_lengths.data(), runs, d_output.data(),
                       input.size(), d_total.data(), nullptr);
  });
  ASSERT_EQ(d_total.written(1)[0], input.size());
  ASSERT_TRUE(d_output.written(input.size()) == input);
}

template <class T>
void expect_all_sizes() {
  std::vector<std::size_t> sizes{0, 1, 2, 3, 15, 16, 17, 511, 513};
  for (const std::size_t edge : {4096, 8192, 32 * 4096, 70 * 8192, 1100 * 4096})
    for (const int around : {-1, 0, 1, 7}) sizes.push_back(edge + around);
  for (const std::size_t size : sizes) {
    for (const unsigned most : {0u, 1u, 2u, 17u, 30000u}) {
      expect_runs(input_of<T>(size, most), 0);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (std::size_t offset = 1; offset < 16 / sizeof(T) + 1; ++offset) {
    for (const unsigned most : {0u, 1u, 17u, 30000u}) {
      expect_runs(input_of<T>(100003, most), offset);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST_F(RleParity, Bytes) {
  expect_all_sizes<std::uint8_t>();
}
TEST_F(RleParity, Integers) {
  expect_all_sizes<std::int32_t>();
}

TEST_F(RleParity, EmptyRunsAndWrongSizes) {
  std::vector<std::uint8_t> symbols(50000), expected;
  std::vector<std::uint32_t> lengths(symbols.size(), 0);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i] = static_cast<std::uint8_t>(random());
    if (random() % 100 == 0) lengths[i] = random() % 50;
    expected.insert(expected.end(), lengths[i], symbols[i]);
  }
  const DeviceArray<std::uint8_t> d_symbols(symbols);
  const DeviceArray<std::uint32_t> d_lengths(lengths);
  for (const int more : {0, 100, -100}) {
    const std::size_t size = expected.size() + more;
    const GuardedArray<std::uint8_t> d_output(size, 3);
    const GuardedArray<std::uint64_t> d_total(1, 0);
    call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
      rle::device_decode(d_scratch, bytes, d_symbols.data(), d_lengths.data(), symbols.size(),
                         d_output.data(), size, d_total.data(), nullptr);
    });
    EXPECT_EQ(d_total.written(1)[0], expected.size());
    const std::size_t written = std::min(size, expected.size());
    EXPECT_TRUE(d_output.written(written) ==
                std::vector<std::uint8_t>(expected.begin(), expected.begin() + static_cast<long>(written)));
  }
}

TEST_F(RleParity, MoreThan32BitsOfSymbols) {
  const std::uint64_t size = (std::uint64_t{1} << 32) + 12345;
  std::size_t free_bytes = 0, all = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &all), "cudaMemGetInfo");
  if (free_bytes < size * 7) GTEST_SKIP() << "needs " << (size * 7 >> 30) << " GiB of device memory";
  const DeviceArray<std::uint8_t> d_input(size), d_symbols(size);
  const DeviceArray<std::uint32_t> d_lengths(size);
  const DeviceArray<std::uint64_t> d_runs(1);
  check_cuda(cudaMemset(d_input.data(), 7, size), "cudaMemset");
  check_cuda(cudaMemset(d_input.data() + size - 5, 9, 2), "cudaMemset");
  call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
    rle::device_encode(d_scratch, bytes, d_input.data(), size, d_symbols.data(), d_lengths.data(),
                       d_runs.data(), nullptr);
  });
  ASSERT_EQ(d_runs.download()[0], 5u);
  const auto cut = static_cast<std::uint32_t>(rle::kCut);
  EXPECT_EQ(d_lengths.download(5), (std::vector<std::uint32_t>{cut, cut, 12340, 2, 3}));
  EXPECT_EQ(d_symbols.download(5), (std::vector<std::uint8_t>{7, 7, 7, 9, 7}));
}

}  // namespace
}  // namespace cu264::parity
