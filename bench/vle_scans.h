// Times scans of words that differ only in the inter-block scan (thesis 2.3, section 4.4).
#pragma once

#include <cstdint>
#include <vector>

namespace cu264::bench {

struct ScanTimes {
  const char* name;
  double milliseconds;  // median; as in the paper, zeroing the state is not counted
};

// Times exclusive sums of `d_words`, with one word per thread and thread blocks of 128, and CUB's
// DeviceScan. Throws std::runtime_error if a result is wrong.
std::vector<ScanTimes> time_scans(const std::uint32_t* d_words, std::size_t count, int runs);

}  // namespace cu264::bench
