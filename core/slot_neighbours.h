// The blocks from which nC of a slot's block is derived (H.264 9.2.1, 6.4.11.4).
#pragma once

#include <cstdint>

#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/hd.h"

namespace cu264::core {

// The slots of the blocks A and B. *_outside: the block lies in the macroblock to the left or above.
struct SlotNeighbours {
  std::uint8_t slot_a = 0;
  std::uint8_t slot_b = 0;
  bool a_outside = false;
  bool b_outside = false;
};

// Returns the neighbours of a luma block, of Intra16x16DCLevel (those of block 0) or of a chroma AC block.
CU264_HD SlotNeighbours slot_neighbours(int slot) {
  SlotNeighbours n;
  if (slot < kSlotChromaDc) {
    const int block = slot == kSlotLumaDc ? 0 : slot - kSlotLuma;
    const int x = luma_block_x(block), y = luma_block_y(block);
    n.slot_a = static_cast<std::uint8_t>(kSlotLuma + luma_block_index((x + 3) & 3, y));
    n.slot_b = static_cast<std::uint8_t>(kSlotLuma + luma_block_index(x, (y + 3) & 3));
    n.a_outside = x == 0;
    n.b_outside = y == 0;
  } else {
    const int block = (slot - kSlotChromaAc) & 3, first = slot - block;
    n.slot_a = static_cast<std::uint8_t>(first + (block ^ 1));
    n.slot_b = static_cast<std::uint8_t>(first + (block ^ 2));
    n.a_outside = (block & 1) == 0;
    n.b_outside = (block & 2) == 0;
  }
  return n;
}

// nC of a slot's block. `here`, `left` and `above` are total_coeff by slot of the macroblock and its
// neighbours; null stands for a macroblock that is not available in the slice.
CU264_HD int slot_nc(int slot, const SlotNeighbours& n, const std::uint8_t* here, const std::uint8_t* left,
                     const std::uint8_t* above) {
  if (slot >= kSlotChromaDc && slot < kSlotChromaAc) return kChromaDcNc;
  const std::uint8_t* const a = n.a_outside ? left : here;
  const std::uint8_t* const b = n.b_outside ? above : here;
  return nc_from_neighbours(a != nullptr ? a[n.slot_a] : -1, b != nullptr ? b[n.slot_b] : -1);
}

}  // namespace cu264::core
