// The items of a group of macroblocks, which a thread block makes in three steps:
//   list    each lane lists blocks that the coded_block_pattern of one macroblock has, each warp those of so
//           many levels; many come first, so that the lanes of a warp have equally much to do in the next
//           steps
//   count   each lane counts the items of listed blocks, and each lane of the first warp before that those in
//           front of the residual of one macroblock; the places of all items in the group then follow
//   put     in the same way, they are written to shared memory, from where they are stored in pieces of
//           sixteen bytes
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"
#include "core/device_batch.h"
#include "entropy/cabac/item_count.cuh"
#include "entropy/cabac/slot_list.cuh"
#include "entropy/cavlc/block_levels.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"

namespace cu264::entropy {

inline constexpr int kItemWarps = 4, kItemThreads = 32 * kItemWarps;

// The most items in front of the residual: those of mb_type, transform_size_8x8_flag, 16 modes of four bins,
// intra_chroma_pred_mode, coded_block_pattern, and mb_qp_delta of -26.
inline constexpr int kMostHeaderItems = 1 + 1 + 16 * 4 + 3 + 6 + 53;
// A level takes a decision for its bin and up to kAbsLevelPrefix - 1 more, and four items for its suffix with
// the sign; two flags tell of its place. So a macroblock has fewer items than this.
inline constexpr int kStringItems = 8192;
static_assert(kStringItems > kMostHeaderItems + 1 + 27 + 400 * (2 + core::kAbsLevelPrefix + 4));

struct GroupItemsShared {
  alignas(16) std::uint16_t string[kStringItems + 16];
  alignas(32) std::uint8_t levels[kItemWarps * StagedLevels::kWarpBytes];
  // By slot and macroblock: the number of items, then where in its macroblock they begin.
  std::uint16_t places[core::kBlocksPerMacroblock][kGroup];
  std::uint16_t nonzero[core::kBlocksPerMacroblock][kGroup];             // masks of levels
  std::uint16_t list[kGroup * core::kBlocksPerMacroblock];               // entries of ListedSlot
  std::uint32_t begins[kGroup + 1];                                      // of macroblocks, in the group
  std::uint32_t flags[kGroup], left_flags[kGroup], above_flags[kGroup];  // coded_block_flag by slot
  std::uint16_t header_items[kGroup];
  core::MacroblockKind kinds[kGroup];
  int listed, rows_taken;
  std::uint32_t bins;
};

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

class GroupItems {
 public:
  __device__ GroupItems(const core::BatchView& batch, const Group& group, GroupItemsShared& s)
      : batch_(batch),
        group_(group),
        s_(s),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % 32),
        d_levels_(batch.levels +
                  (static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture() + group.first) *
                      core::kLevelsPerMacroblock) {}

  __device__ int macroblocks() const { return group_.end - group_.first; }

  // All threads call this. Behind it, `places` and `begins` are those of macroblocks in the group.
  __device__ void count() {
    auto* const s_places = reinterpret_cast<std::uint32_t*>(s_.places);
    for (int i = thread_; i < core::kBlocksPerMacroblock * kGroup / 2; i += kItemThreads) s_places[i] = 0;
    if (thread_ == 0) s_.bins = 0, s_.rows_taken = 0;
    list();
    __syncthreads();
    prefetch_levels();
    if (thread_ < 32) count_headers();
    std::uint32_t bins = 0;
    take_rows([&](const ListedSlot& listed) {
      core::CabacItemCounter counter;
      count_block(listed.m(), listed.slot(), counter);
      s_.places[listed.slot()][listed.m()] = static_cast<std::uint16_t>(counter.items);
      bins += counter.bins;
    });
    bins = warp_sum(bins);
    if (lane_ == 0) atomicAdd(&s_.bins, bins);
    __syncthreads();
    if (thread_ < 32) place();
    if (thread_ == 0) s_.rows_taken = 0;
    __syncthreads();
  }

  // Writes the items of the group, which begin at item `begin` of its slice's window, and as many of padding
  // behind them. All threads call this.
  __device__ void put(std::uint16_t* d_window, std::uint32_t begin, std::uint32_t padding) {
    const int mbs = macroblocks();
    for (int first = 0, end; first < mbs; first = end) {
      const std::uint32_t round_begin = s_.begins[first];
      const bool fits = lane_ >= first && lane_ < mbs && s_.begins[lane_ + 1] - round_begin <= kStringItems;
      end = first + __popc(__ballot_sync(kAllLanes, fits));
      const std::uint32_t offset = (begin + round_begin) % 8;
      // Item 0 of the group would be there.
      std::uint16_t* const s_first = s_.string + offset - round_begin;
      if (thread_ < 32) put_header(s_first, first, end);
      put_blocks(s_first, first, end);
      std::uint32_t count = s_.begins[end] - round_begin;
      if (end == mbs) {
        if (static_cast<std::uint32_t>(thread_) < padding)
          s_.string[offset + count + thread_] = core::kPaddingItem;
        count += padding;
      }
      __syncthreads();
      if (thread_ == 0) s_.rows_taken = 0;
      store(d_window + begin + round_begin - offset, offset, offset + count);
      __syncthreads();
    }
  }

 private:
  // Passes the listed blocks to take(listed), 32 to a warp. Warps take the next ones when they are done,
  // because the first of them has more to do and the first blocks of the list take longer.
  template <class Take>
  __device__ void take_rows(const Take& take) {
    const int listed = s_.listed;
    for (;;) {
      int row = 0;
      if (lane_ == 0) row = atomicAdd(&s_.rows_taken, 1);
      const int i = 32 * __shfl_sync(kAllLanes, row, 0) + lane_;
      if (i - lane_ >= listed) break;
      if (i < listed) take(ListedSlot{s_.list[i]});
      __syncwarp();
    }
  }

  // Lists the blocks of the lane's macroblock and stores what they depend on. Each warp lists some of the
  // classes.
  __device__ void list() {
    const int warp = thread_ / 32;
    SlotClasses classes{};
    if (lane_ < macroblocks()) {
      const MacroblockRecords records(batch_, group_, group_.first + lane_);
      const core::MacroblockRecord& own = *records.own;
      const Counts counts = load_counts(batch_, static_cast<std::size_t>(records.own - batch_.macroblocks));
      classes = slot_classes(own, counts);
      if (warp == 0) {
        s_.flags[lane_] = core::coded_block_flags(own);
        s_.left_flags[lane_] = core::cabac_neighbour(records.left).coded_blocks;
        s_.above_flags[lane_] = core::cabac_neighbour(records.above).coded_blocks;
        s_.kinds[lane_] = own.kind;
      }
    }
    const int listed = list_slots<kItemWarps>(classes, warp, lane_, s_.list);
    if (thread_ == 0) s_.listed = listed;
  }

  // The levels of listed blocks, which are counted soon: a warp would wait for those of each row otherwise.
  __device__ void prefetch_levels() const {
#if defined(__CUDA_ARCH__)
    for (int i = thread_; i < s_.listed; i += kItemThreads) {
      const ListedSlot listed{s_.list[i]};
      asm volatile("prefetch.global.L2 [%0];" : : "l"(block(listed.m(), listed.slot())));
    }
#endif
  }

  // Puts the items in front of the residual of the lane's macroblock.
  template <class Sink>
  __device__ void put_header_items(Sink& sink) const {
    const int mb = group_.first + lane_;
    const MacroblockRecords records(batch_, group_, mb);
    const core::CabacNeighbours n{core::cabac_neighbour(records.left), core::cabac_neighbour(records.above)};
    core::put_cabac_header(sink, *records.own, records.left, records.above, n,
                           core::changes_qp(records.before));
    if (records.own->kind == core::MacroblockKind::pcm) sink.pcm(static_cast<std::uint32_t>(mb));
  }

  __device__ void count_headers() {
    core::CabacItemCounter counter;
    if (lane_ < macroblocks()) put_header_items(counter);
    s_.header_items[lane_] = static_cast<std::uint16_t>(counter.items);
    const std::uint32_t bins = warp_sum(counter.bins);
    if (lane_ == 0) atomicAdd(&s_.bins, bins + static_cast<std::uint32_t>(macroblocks()));
  }

  __device__ const std::int16_t* block(int m, int slot) const {
    return d_levels_ + m * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
  }
  __device__ bool is_large(int m, int slot) const {
    return s_.kinds[m] == core::MacroblockKind::intra8x8 && slot < core::kSlotChromaDc;
  }

  // Counts coded_block_flag and the levels, and stores the masks of the levels.
  __device__ void count_block(int m, int slot, core::CabacItemCounter& counter) {
    if (is_large(m, slot)) {
      std::uint32_t masks[4];
      const std::uint32_t not_empty =
          batch_
              .macroblocks[static_cast<std::size_t>(group_.picture) * batch_.macroblocks_per_picture() +
                           group_.first + m]
              .nonzero_blocks >>
          slot;
      count_levels8x8(block(m, slot), not_empty, counter, masks);
      for (int i = 0; i < 4; ++i) s_.nonzero[slot + i][m] = static_cast<std::uint16_t>(masks[i]);
      return;
    }
    ++counter.items, ++counter.bins;
    std::uint32_t mask = 0;
    if ((s_.flags[m] >> slot & 1) != 0)
      mask = count_levels(block(m, slot), core::slot_max_num_coeff(s_.kinds[m], slot), counter);
    s_.nonzero[slot][m] = static_cast<std::uint16_t>(mask);
  }

  // Turns numbers of items into places.
  __device__ void place() {
    const bool exists = lane_ < macroblocks();
    std::uint32_t next = s_.header_items[lane_];
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      const std::uint32_t count = s_.places[slot][lane_];
      s_.places[slot][lane_] = static_cast<std::uint16_t>(next);
      next += count;
    }
    const std::uint32_t own = exists ? next + 1 : 0;  // with end_of_slice_flag
    const std::uint32_t up_to = scan_lanes(own, Plus());
    s_.begins[lane_ + 1] = up_to;
    if (lane_ == 0) s_.begins[0] = 0;
  }

  // The lane's macroblock: what is in front of the residual, and end_of_slice_flag.
  __device__ void put_header(std::uint16_t* s_first, int first, int end) {
    if (lane_ >= first && lane_ < end) {
      core::CabacItemWriter writer{s_first + s_.begins[lane_]};
      put_header_items(writer);
      const bool ends_slice = group_.first + lane_ + 1 == group_.slice_end;
      s_first[s_.begins[lane_ + 1] - 1] = core::terminate_item(ends_slice ? 1 : 0);
    }
    __syncwarp();
  }

  __device__ void put_blocks(std::uint16_t* s_first, int first, int end) {
    const StagedLevels staged(
        StagedLevels::address(s_.levels + thread_ / 32 * StagedLevels::kWarpBytes, lane_));
    take_rows([&](const ListedSlot& listed) {
      const int m = listed.m(), slot = listed.slot();
      if (m < first || m >= end) return;
      core::CabacItemWriter writer{s_first + s_.begins[m] + s_.places[slot][m]};
      const std::uint32_t nonzero = s_.nonzero[slot][m];
      if (is_large(m, slot)) {
        std::uint64_t all = 0;
        for (int k = 0; k < 4; ++k) all |= core::interleaved_mask(s_.nonzero[slot + k][m], k);
        core::put_cabac_levels_8x8(writer, block(m, slot), all);
        return;
      }
      if (nonzero != 0) staged.store(load_levels(reinterpret_cast<const BlockLevels*>(block(m, slot))));
      core::CabacNeighbours n{};
      n.left.coded_blocks = s_.left_flags[m], n.above.coded_blocks = s_.above_flags[m];
      core::put_cabac_block(writer, staged, nonzero, core::slot_category(s_.kinds[m], slot),
                            core::coded_block_flag_inc(slot, s_.flags[m], n));
    });
  }

  // Stores items [begin, end) of the string, whose item 0 goes to d_first, at a multiple of sixteen bytes.
  __device__ void store(std::uint16_t* d_first, std::uint32_t begin, std::uint32_t end) const {
    const auto* const s_quads = reinterpret_cast<const uint4*>(s_.string);
    for (auto quad = static_cast<std::uint32_t>(thread_); 8 * quad < end; quad += kItemThreads) {
      if (8 * quad >= begin && 8 * quad + 8 <= end) {
        reinterpret_cast<uint4*>(d_first)[quad] = s_quads[quad];
        continue;
      }
      for (std::uint32_t i = max(8 * quad, begin); i < min(8 * quad + 8, end); ++i) d_first[i] = s_.string[i];
    }
  }

  const core::BatchView& batch_;
  const Group group_;
  GroupItemsShared& s_;
  const int thread_, lane_;
  const std::int16_t* const d_levels_;
};

}  // namespace cu264::entropy
