// Codes items with the arithmetic coders of the GPU. This header needs no header of CUDA.
#pragma once

#include <cstdint>
#include <vector>

namespace cu264::parity {

struct ItemSlice {
  std::vector<std::uint16_t> items;  // core/cabac_item.h, the last of which ends the slice
  int qp = 27;
};

struct CodedItems {
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
};

// The chunks of the coder that is parallel inside a slice; items_log2 0 stands for the serial one.
struct ItemChunks {
  int items_log2 = 0;
  int lanes_log2 = 0;
  std::uint32_t segments = ~0u;  // that are coded at a time
};

// The bits of all slices, in a batch. Throws cu264::Error with CUDA's message.
std::vector<CodedItems> code_items_on_device(const std::vector<ItemSlice>& slices, const ItemChunks& chunks);

}  // namespace cu264::parity
