// Prefix sums and compaction on the GPU give the results of loops written here.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "cu264/scan.h"
#include "cu264/status.h"
#include "entropy/scan/published/published_scan.h"
#include "tests/parity/device_test.h"
#include "tests/parity/guarded_array.cuh"

namespace cu264::parity {
namespace {

using scan::Kind;
using scan::Method;

class ScanParity : public DeviceTest {};

using Form = std::optional<scan::ScanVariant>;  // nothing: device_scan

constexpr scan::TileSize kSmall = scan::TileSize::small, kLarge = scan::TileSize::large;
const Form kForms[] = {{},
                       {{Method::gvle, kSmall}},
                       {{Method::gvle_tuned, kSmall}},
                       {{Method::yavle, kSmall}},
                       {{Method::cuvle, kSmall}},
                       {{Method::yavle, kLarge}},
                       {{Method::cuvle, kLarge}}};
constexpr int kRepeats = 3;

// Sizes around those of chunks, warps, tiles and segments of 32 tiles.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> sizes{0, 1, 2, 3, 4, 5, 31, 127, 128, 129, 1000};
  for (const std::size_t edge : {1024, 4096, 8192, 32 * 1024, 33 * 4096, 32 * 8192, 70 * 8192, 1100 * 1024})
    for (const int around : {-1, 0, 1, 7}) sizes.push_back(edge + around);
  return sizes;
}

enum class Values { random, largest, zeros };

std::vector<std::uint32_t> words(std::size_t count, Values values) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<std::uint32_t> result(count);
  for (auto& word : result)
    word = values == Values::random ? static_cast<std::uint32_t>(random())
                                    : (values == Values::largest ? 0xffffffffu : 0u);
  return result;
}

template <class Sum>
void expect_scan(std::size_t count, std::size_t in_offset, std::size_t out_offset, Values values, Kind kind,
                 const Form& form = {}) {
  SCOPED_TRACE(testing::Message() << count << " items at " << in_offset << " to " << out_offset << ", form "
                                  << (form ? static_cast<int>(form->method) : -1) << ", kind "
                                  << static_cast<int>(kind) << ", values " << static_cast<int>(values));
  const std::vector<std::uint32_t> input = words(count, values);
  std::vector<Sum> expected(count);
  Sum sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = sum + (kind == Kind::inclusive ? input[i] : 0);
    sum += input[i];
  }
  const OffsetInput<std::uint32_t> d_input(input, in_offset);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const GuardedArray<Sum> d_output(count, out_offset);
    call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
      if (!form) {
        scan::device_scan(d_scratch, bytes, d_input.data(), d_output.data(), count, kind, nullptr);
      } else if (d_scratch == nullptr) {
        bytes = scan::published_scan_scratch_bytes(*form, count);
      } else {
        scan::launch_published_scan(
            *form, scan::ScanArrays<Sum>{d_input.data(), d_output.data(), count, kind}, d_scratch, nullptr);
      }
    });
    ASSERT_TRUE(d_output.written(count) == expected) << "repeat " << repeat;
  }
}

TEST_F(ScanParity, EverySizeByEveryForm) {
  for (const std::size_t count : sizes()) {
    for (const Form& form : kForms) {
      expect_scan<std::uint32_t>(count, 0, 0, Values::random, Kind::exclusive, form);
      expect_scan<std::uint64_t>(count, 0, 0, Values::largest, Kind::inclusive, form);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ScanParity, EveryAlignmentAndValue) {
  for (const std::size_t count : {5u, 8190u, 40003u}) {
    for (std::size_t in = 0; in < 4; ++in) {
      for (std::size_t out = 0; out < 4; ++out) {
        for (const Values values : {Values::random, Values::largest, Values::zeros}) {
          expect_scan<std::uint32_t>(count, in, out, values, Kind::inclusive);
          expect_scan<std::uint64_t>(count, in, out, values, Kind::exclusive);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(ScanParity, InPlace) {
  const std::vector<std::uint32_t> input = words(300007, Values::random);
  std::vector<std::uint32_t> expected(input.size());
  scan::prefix_sum(input, expected, Kind::exclusive);
  const DeviceArray<std::uint32_t> d_words(input);
  call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
    scan::device_scan(d_scratch, bytes, d_words.data(), d_words.data(), input.size(), Kind::exclusive,
                      nullptr);
  });
  EXPECT_TRUE(d_words.download() == expected);
}

TEST_F(ScanParity, ScratchThatIsTooSmallIsRefused) {
  const DeviceArray<std::uint32_t> d_words(1000);
  std::size_t bytes = 0;
  scan::device_scan(nullptr, bytes, d_words.data(), d_words.data(), 1000, Kind::exclusive, nullptr);
  const DeviceArray<std::uint8_t> d_scratch(bytes);
  std::size_t less = bytes - 1;
  EXPECT_THROW(scan::device_scan(d_scratch.data(), less, d_words.data(), d_words.data(), 1000,
                                 Kind::exclusive, nullptr),
               Error);
  EXPECT_THROW(scan::device_scan(d_scratch.data() + 1, bytes, d_words.data(), d_words.data(), 1000,
                                 Kind::exclusive, nullptr),
               Error);
}

// `share` of 256 elements are selected.
template <class T>
void expect_select(std::size_t count, std::size_t offset, std::size_t flag_offset, unsigned share) {
  SCOPED_TRACE(testing::Message() << count << " items of " << sizeof(T) << " at " << offset << ", flags at "
                                  << flag_offset << ", share " << share);
  std::mt19937 random(static_cast<unsigned>(count + share));
  std::vector<T> input(count), flagged, nonzero;
  std::vector<std::uint8_t> flags(count);
  for (std::size_t i = 0; i < count; ++i) {
    input[i] = random() % 256 < share ? static_cast<T>(random() | 1) : T{0};
    flags[i] = random() % 256 < share ? static_cast<std::uint8_t>(1u << random() % 8) : 0;
    if (flags[i] != 0) flagged.push_back(input[i]);
    if (input[i] != 0) nonzero.push_back(input[i]);
  }
  const OffsetInput<T> d_input(input, offset);
  const OffsetInput<std::uint8_t> d_flags(flags, flag_offset);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const bool by_flag : {true, false}) {
      const std::vector<T>& expected = by_flag ? flagged : nonzero;
      const GuardedArray<T> d_output(count, offset);
      const GuardedArray<std::uint64_t> d_selected(1, 0);
      call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
        if (by_flag)
          scan::device_select(d_scratch, bytes, d_input.data(), d_flags.data(), d_output.data(), count,
                              d_selected.data(), nullptr);
        else
          scan::device_select_nonzero(d_scratch, bytes, d_input.data(), d_output.data(), count,
                                      d_selected.data(), nullptr);
      });
      ASSERT_EQ(d_selected.written(1)[0], expected.size());
      ASSERT_TRUE(d_output.written(expected.size()) == expected);
    }
  }
}

TEST_F(ScanParity, SelectsEverySizeAndAlignment) {
  for (const std::size_t count : sizes()) {
    expect_select<std::uint8_t>(count, 0, 0, 100);
    expect_select<std::uint32_t>(count, 0, 0, 100);
    if (HasFatalFailure()) return;
  }
  for (const unsigned share : {0u, 1u, 255u, 256u}) {
    for (std::size_t offset = 0; offset < 17; ++offset) {
      expect_select<std::uint8_t>(20011, offset, offset * 7 % 16, share);
      expect_select<std::uint32_t>(20011, offset % 4, offset, share);
      if (HasFatalFailure()) return;
    }
  }
}

__global__ void fill_words(std::uint32_t* d_words, std::uint64_t count) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    d_words[i] = static_cast<std::uint32_t>(i % 2 == 0 ? 0xffffffffu : 3u);
}

__global__ void count_wrong_sums(const std::uint64_t* d_sums, std::uint64_t count,
                                 unsigned long long* d_wrong) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long wrong = 0;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    wrong += d_sums[i] != (i + 1) / 2 * 0xffffffffull + i / 2 * 3;
  if (wrong != 0) atomicAdd(d_wrong, wrong);
}

TEST_F(ScanParity, MoreThan32BitsOfItems) {
  const std::uint64_t count = (std::uint64_t{1} << 32) + 12345;
  std::size_t free_bytes = 0, all = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &all), "cudaMemGetInfo");
  if (free_bytes < count * 13) GTEST_SKIP() << "needs " << (count * 13 >> 30) << " GiB of device memory";
  const DeviceArray<std::uint32_t> d_words(count);
  const DeviceArray<std::uint64_t> d_sums(count);
  const DeviceArray<unsigned long long> d_wrong(std::vector<unsigned long long>{0});
  fill_words<<<2048, 256>>>(d_words.data(), count);
  call_with_scratch([&](void* d_scratch, std::size_t& bytes) {
    scan::device_scan(d_scratch, bytes, d_words.data(), d_sums.data(), count, Kind::exclusive, nullptr);
  });
  count_wrong_sums<<<2048, 256>>>(d_sums.data(), count, d_wrong.data());
  EXPECT_EQ(d_wrong.download()[0], 0u);
}

}  // namespace
}  // namespace cu264::parity
