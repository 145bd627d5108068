// Prefix sums and stream compaction on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cu264/scan.h"

namespace cu264::scan {

template <class Sum>
struct ScanArrays {
  const std::uint32_t* d_input;
  Sum* d_output;
  std::uint64_t count;
  Kind kind;
};

std::size_t scan_scratch_bytes(std::uint64_t count);
void launch_scan(const ScanArrays<std::uint32_t>& arrays, void* d_scratch, void* stream);
void launch_scan(const ScanArrays<std::uint64_t>& arrays, void* d_scratch, void* stream);

template <class T>
struct SelectArrays {
  const T* d_input;
  const std::uint8_t* d_flags;  // null: selects elements that are not zero
  T* d_output;
  std::uint64_t count;
  std::uint64_t* d_selected;
};

std::size_t select_scratch_bytes(std::uint64_t count);
void launch_select(const SelectArrays<std::uint32_t>& arrays, void* d_scratch, void* stream);
void launch_select(const SelectArrays<std::uint8_t>& arrays, void* d_scratch, void* stream);

}  // namespace cu264::scan
