// The items before the residual of a macroblock, which one lane writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"
#include "core/device_batch.h"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// The most items before the residual: those of mb_type, transform_size_8x8_flag, 16 modes of four bins,
// intra_chroma_pred_mode, coded_block_pattern, and mb_qp_delta of -26.
inline constexpr int kMaxHeaderItems = 1 + 1 + 16 * 4 + 3 + 6 + 53;

// A macroblock's record and its neighbours, which are null where they are not available in the slice.
struct MacroblockRecords {
  const core::MacroblockRecord *own, *before, *left, *above;

  __device__ MacroblockRecords(const core::BatchView& batch, const Group& group, int mb)
      : own(batch.macroblocks + static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture() +
            mb),
        before(mb > group.slice_first ? own - 1 : nullptr),
        left(mb % batch.mb_width != 0 ? own - 1 : nullptr),
        above(mb - group.slice_first >= batch.mb_width ? own - batch.mb_width : nullptr) {}
};

// Writes the items before the residual of macroblock `mb` of its picture, and returns where they end. Not
// inlined, so that the instruction cache holds one copy.
__device__ __noinline__ std::uint16_t* write_header(const core::MacroblockRecord* own, bool qp_changed,
                                                    const core::MacroblockRecord* left,
                                                    const core::MacroblockRecord* above, int mb,
                                                    std::uint16_t* s_items) {
  core::CabacItemWriter writer{s_items};
  const core::CabacNeighbours n{core::cabac_neighbour(left), core::cabac_neighbour(above)};
  core::put_cabac_header(writer, *own, left, above, n, qp_changed);
  if (own->kind == core::MacroblockKind::pcm) writer.pcm(static_cast<std::uint32_t>(mb));
  return writer.next;
}

}  // namespace cu264::entropy
