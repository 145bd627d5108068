// Stream compaction on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cu264::scan {

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
