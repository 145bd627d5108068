// Checks of calls of the functions on device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cu264/status.h"

namespace cu264::scan {

inline constexpr std::uint64_t kMaxItems = std::uint64_t{1} << 38;

inline void check_count(std::uint64_t count) {
  if (count > kMaxItems) {
    throw Error(ErrorCode::invalid_argument, std::to_string(count) + " elements are more than 2^38",
                "process them in parts");
  }
}

// Answers a call that only asks for the scratch's size and returns true; otherwise checks the scratch and
// returns false.
inline bool is_size_query(const void* d_scratch, std::size_t& scratch_size, std::size_t needed) {
  if (d_scratch == nullptr) {
    scratch_size = needed;
    return true;
  }
  if (scratch_size < needed) {
    throw Error(ErrorCode::invalid_argument, "the scratch has " + std::to_string(scratch_size) +
                                                 " bytes, but " + std::to_string(needed) + " are needed");
  }
  if (reinterpret_cast<std::uintptr_t>(d_scratch) % 256 != 0)
    throw Error(ErrorCode::invalid_argument, "the scratch is not aligned to 256 bytes");
  return false;
}

// Throws the error of all these functions in a build without CUDA.
[[noreturn]] inline void refuse_without_cuda() {
  throw Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
              "use the functions for host memory, or build with CUDA");
}

}  // namespace cu264::scan
