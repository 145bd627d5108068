// The items before the residual of a macroblock, which one lane writes. In P slices mb_skip_flag is the
// first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"
#include "core/cabac_p_macroblock.h"
#include "core/device_batch.h"
#include "entropy/cavlc/group_bits.h"

namespace cu264::entropy {

// The most items before the residual: those of mb_type, transform_size_8x8_flag, 16 modes of four bins,
// intra_chroma_pred_mode, coded_block_pattern, and mb_qp_delta of -26.
inline constexpr int kMaxHeaderItems = 1 + 1 + 16 * 4 + 3 + 6 + 53;

// In P slices: mb_skip_flag, mb_type, sub_mb_type, eight components of mvd_l0 of 9 decisions, 26 bins of the
// suffix and a sign, coded_block_pattern, transform_size_8x8_flag and mb_qp_delta. I macroblocks have fewer.
inline constexpr int kMaxPHeaderItems = 1 + 3 + 4 + 8 * (core::kMvdPrefix + 4 + 1) + 6 + 1 + 53;
static_assert(kMaxPHeaderItems > kMaxHeaderItems + 2);

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

// Writes items of P slices and counts their bins.
struct PItemWriter {
  core::CabacItemWriter writer;
  std::uint32_t bins = 0;

  __device__ void decision(int context, int bin) {
    writer.decision(core::p_item_context(context), bin);
    ++bins;
  }
  __device__ void bypass(std::uint32_t value, int count) {
    writer.bypass(value, count);
    bins += static_cast<std::uint32_t>(count);
  }
  __device__ void terminate(int bin) {
    writer.terminate(bin);
    ++bins;
  }
};

struct PHeader {
  std::uint16_t* end;
  std::uint32_t bins;
};

// The same in a P slice. `motion` is the macroblock's own record in an array like that of the records.
__device__ __noinline__ PHeader write_p_header(const core::MacroblockRecord* own, bool qp_changed,
                                               const core::MacroblockRecord* left,
                                               const core::MacroblockRecord* above,
                                               const core::MotionRecord* motion, int mb_width, int mb,
                                               std::uint16_t* s_items) {
  PItemWriter sink{{s_items}};
  core::put_cabac_skip_flag(sink, *own, left, above);
  if (own->kind != core::MacroblockKind::p_skip) {
    const core::PNeighbours around{left, above, left != nullptr ? motion - 1 : nullptr,
                                   above != nullptr ? motion - mb_width : nullptr};
    core::put_cabac_p_header(sink, *own, *motion, around, core::cabac_p_neighbours(*own, left, above),
                             qp_changed);
    if (own->kind == core::MacroblockKind::pcm) sink.writer.pcm(static_cast<std::uint32_t>(mb));
  }
  return {sink.writer.next, sink.bins};
}

}  // namespace cu264::entropy
