// The items of one macroblock, as one lane makes them (core/cabac_macroblock.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"
#include "core/device_batch.h"
#include "entropy/cabac/item_count.cuh"
#include "entropy/cabac/string_layout.h"

namespace cu264::entropy {

// put_cabac_residual of core/, with wide loads.
template <class Sink>
__device__ __forceinline__ void put_residual_items(Sink& sink, const core::MacroblockRecord& mb,
                                                   const std::int16_t* d_levels,
                                                   const core::CabacNeighbours& n) {
  const std::uint32_t flags = core::coded_block_flags(mb);
  std::uint32_t rest = core::coded_slots(mb);
  if (mb.kind == core::MacroblockKind::intra8x8) {
    for (std::uint32_t first = rest & kFirstOfLargeBlocks; first != 0; first &= first - 1) {
      const int slot = __ffs(static_cast<int>(first)) - 1;
      const std::int16_t* const d_block = d_levels + slot * core::kLevelsPerBlock;
      core::put_cabac_levels_8x8(sink, d_block, core::nonzero_levels8x8(mb, slot, d_block));
    }
    rest &= ~kLumaSlots;
  }
  for (; rest != 0; rest &= rest - 1) {
    const int slot = __ffs(static_cast<int>(rest)) - 1;
    const std::int16_t* const d_block = d_levels + slot * core::kLevelsPerBlock;
    const std::uint32_t nonzero = (flags >> slot & 1) != 0 ? nonzero_levels(d_block) : 0;
    core::put_cabac_block(sink, d_block, nonzero, core::slot_category(mb.kind, slot),
                          core::coded_block_flag_inc(slot, flags, n));
  }
}

// Puts macroblock `mb` of its picture, and end_of_slice_flag behind it.
template <class Sink>
__device__ void put_macroblock_items(Sink& sink, const core::BatchView& batch, const SliceSpan& slice,
                                     int mb) {
  const std::size_t index = static_cast<std::size_t>(slice.picture) * batch.macroblocks_per_picture() +
                            static_cast<std::size_t>(mb);
  const core::MacroblockRecord* const d_own = batch.macroblocks + index;
  const core::MacroblockRecord* const d_before = mb > slice.first ? d_own - 1 : nullptr;
  const core::MacroblockRecord* const d_left = mb % batch.mb_width != 0 ? d_own - 1 : nullptr;
  const core::MacroblockRecord* const d_above =
      mb - slice.first >= batch.mb_width ? d_own - batch.mb_width : nullptr;
  const core::CabacNeighbours n{core::cabac_neighbour(d_left), core::cabac_neighbour(d_above)};
  core::put_cabac_header(sink, *d_own, d_left, d_above, n, core::changes_qp(d_before));
  if (d_own->kind == core::MacroblockKind::pcm) {
    sink.pcm(static_cast<std::uint32_t>(mb));
  } else {
    put_residual_items(sink, *d_own, batch.levels + index * core::kLevelsPerMacroblock, n);
  }
  sink.terminate(mb + 1 == slice.end ? 1 : 0);
}

// A sink that hands each item to store(item).
template <class Store>
struct ItemSink {
  Store store;

  __device__ __forceinline__ void decision(int context, int bin) { store(core::decision_item(context, bin)); }
  __device__ __forceinline__ void signed_decision(int context, int bin, std::uint32_t sign) {
    store(core::signed_item(context, bin, sign));
  }
  __device__ __forceinline__ void bypass(std::uint32_t value, int count) {
    constexpr int kMost = core::kBypassBinsPerItem;
    for (; count > kMost; count -= kMost) store(core::bypass_item((value >> (count - kMost)) & 255, kMost));
    if (count > 0) store(core::bypass_item(value & ((1u << count) - 1), count));
  }
  __device__ __forceinline__ void terminate(int bin) { store(core::terminate_item(bin)); }
  __device__ __forceinline__ void pcm(std::uint32_t macroblock) {
    for (int part = 0; part < core::kPcmItems; ++part) store(core::pcm_item(macroblock, part));
  }
};

// Stores those of a slice's items that lie in a window: items [begin, begin + count) of the slice.
struct WindowStore {
  std::uint16_t* d_window;
  std::uint32_t at;  // index of the next item, from `begin` on; it wraps below zero in front of the window
  std::uint32_t count;

  __device__ __forceinline__ void operator()(std::uint16_t item) {
    if (at < count) d_window[at] = item;
    ++at;
  }
};

}  // namespace cu264::entropy
