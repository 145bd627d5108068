// The meaning of the thread counts in cu264/vle.h.
#pragma once

#include <algorithm>

#include <tbb/info.h>

namespace cu264::vle {

// oneTBB offers no more workers than the machine has cores.
inline int usable_threads(int threads) {
  const int cores = tbb::info::default_concurrency();
  return threads > 0 ? std::min(threads, cores) : cores;
}

}  // namespace cu264::vle
