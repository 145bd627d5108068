#include "entropy/vle/cpu_histogram.h"

#include <cstddef>
#include <cstring>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

namespace cu264::vle {
namespace {

void add(Histogram& sum, const Histogram& part) {
  for (int s = 0; s < kSymbols; ++s) sum[s] += part[s];
}

}  // namespace

Histogram count_serial(std::span<const std::uint8_t> input) {
  // Four tables, so that in a run of one symbol a count need not wait for the count before.
  std::uint64_t counts[4][kSymbols] = {};
  const std::uint8_t* from = input.data();
  std::size_t left = input.size();
  for (; left >= 8; left -= 8, from += 8) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    for (int byte = 0; byte < 8; ++byte) ++counts[byte % 4][word >> (8 * byte) & 255];
  }
  for (; left > 0; --left) ++counts[0][*from++];
  Histogram histogram;
  for (int s = 0; s < kSymbols; ++s) {
    histogram[s] = counts[0][s] + counts[1][s] + counts[2][s] + counts[3][s];
  }
  return histogram;
}

Histogram count_parallel(std::span<const std::uint8_t> input) {
  constexpr std::size_t kGrain = std::size_t{1} << 18;
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, input.size(), kGrain), Histogram{},
      [&](const tbb::blocked_range<std::size_t>& range, Histogram sum) {
        add(sum, count_serial(input.subspan(range.begin(), range.size())));
        return sum;
      },
      [](Histogram a, const Histogram& b) {
        add(a, b);
        return a;
      });
}

}  // namespace cu264::vle
