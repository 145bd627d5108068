// Scans of words that differ in nothing but the inter-block scan (thesis 2.3, section 4.4).
#pragma once

#include <cstdint>
#include <vector>

namespace cu264::bench {

struct ScanTimes {
  const char* name;
  double milliseconds;  // median, the state's zeroing not counted, as in the paper
};

// Exclusive sums of `d_words`, one word a thread, thread blocks of 128, and CUB's DeviceScan. Throws
// std::runtime_error where a result is wrong.
std::vector<ScanTimes> time_scans(const std::uint32_t* d_words, std::size_t count, int runs);

}  // namespace cu264::bench
