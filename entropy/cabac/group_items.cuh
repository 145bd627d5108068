// The items of a group of macroblocks. A thread block makes them in three steps:
//
// clang-format off
//   list   Each lane lists the blocks that the coded_block_pattern of one macroblock has. Each warp lists those
//          of a certain number of levels. Blocks with many levels come first, so that the lanes of a warp have
//          equal work in the next steps.
//   count  Each lane counts the items of listed blocks, or of quarters of 8x8 blocks. Before that, each lane of
//          the first warp counts the items before the residual of one macroblock. The places of all items in
//          the group follow from these counts.
//   put    In the same way the items are written to shared memory, and from there to the pool, sixteen bytes
//          at a time.
// clang-format on
//
// Batches without P pictures have a class of their own, so that these cost them nothing.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/cuda/thread_scan.cuh"
#include "common/cuda/warp.cuh"
#include "core/cabac_item.h"
#include "core/cabac_macroblock.h"
#include "core/device_batch.h"
#include "entropy/cabac/header_items.cuh"
#include "entropy/cabac/item_count.cuh"
#include "entropy/cabac/item_pool.h"
#include "entropy/cabac/slot_list.cuh"
#include "entropy/cavlc/block_levels.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"

namespace cu264::entropy {

inline constexpr int kItemWarps = 4, kItemThreads = 32 * kItemWarps;

// A level takes one decision for its first bin and up to kAbsLevelPrefix - 1 more, four items for its suffix
// and sign, and two flags for its position. There are as many levels as samples. So a macroblock has fewer
// items than this.
inline constexpr int kSharedItems = static_cast<int>(kMaxMacroblockItems);
static_assert(kSharedItems > kMaxPHeaderItems + 1 + core::kBlocksPerMacroblock +
                                 core::MacroblockLayout::kSamples * (2 + core::kAbsLevelPrefix + 4));

struct GroupItemsShared {
  alignas(16) std::uint16_t items[kSharedItems + 16];  // up to two may be read beyond the items
  alignas(32) std::uint8_t levels[kItemWarps * StagedLevels::kWarpBytes];
  // By slot and macroblock: the number of items, then where in its macroblock they begin.
  std::uint16_t places[core::kBlocksPerMacroblock][kGroup];
  std::uint16_t nonzero[core::kBlocksPerMacroblock][kGroup];  // masks of levels
  std::uint16_t list[kGroup * core::kBlocksPerMacroblock];    // entries of ListedSlot
  std::uint32_t begins[kGroup + 1];                           // of macroblocks, in the group
  std::uint32_t flags[kGroup];                                // which blocks have levels, by slot
  std::uint32_t left_flags[kGroup], above_flags[kGroup];      // coded_block_flag by slot
  std::uint16_t header_items[kGroup];
  // By part of an 8x8 block (other blocks come after these) and by position. The four low bits are added to
  // the first context of significant_coeff_flag, the bits above to that of last_significant_coeff_flag.
  std::uint8_t incs[core::kParts8x8 + 1][core::kLevelsPerBlock];
  core::MacroblockKind kinds[kGroup];
  int listed, rows_taken;
  std::uint32_t bins;
  std::uint32_t large_transforms;  // transform_size_8x8_flag by macroblock, where there are P pictures
};

// Contexts of positions from a row of GroupItemsShared::incs.
struct ListedContexts {
  int first_significant, first_last;
  const std::uint8_t* s_incs;

  __device__ __forceinline__ int significant(int k) const { return first_significant + (s_incs[k] & 15); }
  __device__ __forceinline__ int last(int k) const { return first_last + (s_incs[k] >> 4); }
};

// kInter: whether the batch has P pictures.
template <bool kInter>
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

  // All threads call this. After it, `places` and `begins` refer to macroblocks of the group.
  __device__ void count() {
    auto* const s_places = reinterpret_cast<std::uint32_t*>(s_.places);
    for (int i = thread_; i < core::kBlocksPerMacroblock * kGroup / 2; i += kItemThreads) s_places[i] = 0;
    if (thread_ == 0) s_.bins = 0, s_.rows_taken = 0;
    if (thread_ < (core::kParts8x8 + 1) * core::kLevelsPerBlock) {
      const int part = thread_ / core::kLevelsPerBlock, k = thread_ % core::kLevelsPerBlock;
      const bool large = part < core::kParts8x8 && thread_ < 63;
      s_.incs[part][k] = static_cast<std::uint8_t>(
          large ? core::significant_inc_8x8(thread_) | core::last_inc_8x8(thread_) << 4 : k | k << 4);
    }
    list();
    __syncthreads();
    prefetch_levels();
    if (thread_ < 32) count_headers();
    std::uint32_t bins = 0;
    take_rows([&](bool exists, const ListedSlot& listed) {
      bins += count_block(exists, listed.m(), listed.slot());
    });
    bins = warp_sum(bins);
    if (lane_ == 0) atomicAdd(&s_.bins, bins);
    __syncthreads();
    if (thread_ < 32) place();
    if (thread_ == 0) s_.rows_taken = 0;
    __syncthreads();
  }

  // Writes the group's items that belong to this round's pool. If `ends_slice`, it adds padding up to a
  // multiple of eight. After the next barrier s_begin tells where in its slice the first of them lies, and
  // window() which part of the slice the pool holds: the first warp finds these while the others begin. All
  // threads call this.
  template <class Window>
  __device__ void put(bool ends_slice, const std::uint32_t& s_begin, const Window& window) {
    const int mbs = macroblocks();
    for (int first = 0, end; first < mbs; first = end) {
      const std::uint32_t round_begin = s_.begins[first];
      const bool fits = lane_ >= first && lane_ < mbs && s_.begins[lane_ + 1] - round_begin <= kSharedItems;
      end = first + __popc(__ballot_sync(kAllLanes, fits));
      // Item 0 of the group would be there.
      std::uint16_t* const s_first = s_.items - round_begin;
      if (thread_ < 32) put_header(s_first, first, end);
      put_blocks(s_first, first, end);
      __syncthreads();
      const PoolWindow own = window();
      if (s_begin >= own.end) return;
      if (thread_ == 0) s_.rows_taken = 0;
      const std::uint32_t begin = s_begin + round_begin, count = s_.begins[end] - round_begin;
      store(own, begin, count, ends_slice && end == mbs ? -(begin + count) % 8 : 0);
      __syncthreads();
    }
  }

 private:
  // Passes the listed blocks to take(exists, listed), 32 to a warp; all lanes of the warp call it. A warp
  // that is done takes the next 32, because the first warp has more to do and the first blocks of the list
  // take longer.
  template <class Take>
  __device__ void take_rows(const Take& take) {
    const int listed = s_.listed;
    for (;;) {
      int row = 0;
      if (lane_ == 0) row = atomicAdd(&s_.rows_taken, 1);
      const int i = 32 * __shfl_sync(kAllLanes, row, 0) + lane_;
      if (i - lane_ >= listed) break;
      const bool exists = i < listed;
      take(exists, ListedSlot{exists ? s_.list[i] : 0u});
      __syncwarp();
    }
  }

  // Lists the blocks of the lane's macroblock and stores what they depend on. Each warp lists some of the
  // classes of blocks.
  __device__ void list() {
    const int warp = thread_ / 32;
    SlotClasses classes{};
    bool large_transform = false;
    if (lane_ < macroblocks()) {
      const MacroblockRecords records(batch_, group_, group_.first + lane_);
      const core::MacroblockRecord& own = *records.own;
      const Counts counts = load_counts(batch_, static_cast<std::size_t>(records.own - batch_.macroblocks));
      large_transform = kInter ? core::has_large_transform(own) : own.kind == core::MacroblockKind::intra8x8;
      classes = slot_classes(own, large_transform, counts);
      if (warp == 0) {
        const core::CabacNeighbours n = neighbours(records);
        s_.flags[lane_] = core::coded_slots(own) & own.nonzero_blocks;
        s_.left_flags[lane_] = n.left.coded_blocks;
        s_.above_flags[lane_] = n.above.coded_blocks;
        s_.kinds[lane_] = own.kind;
      }
    }
    if (kInter && warp == 0) s_.large_transforms = __ballot_sync(kAllLanes, large_transform);
    const int listed = list_slots<kItemWarps>(classes, warp, lane_, s_.list);
    if (thread_ == 0) s_.listed = listed;
  }

  __device__ static core::CabacNeighbours neighbours(const MacroblockRecords& records) {
    if constexpr (kInter) return core::cabac_p_neighbours(*records.own, records.left, records.above);
    return {core::cabac_neighbour(records.left), core::cabac_neighbour(records.above)};
  }

  // Prefetches the levels of listed blocks, which are counted soon. Otherwise a warp would wait for those of
  // each row.
  __device__ void prefetch_levels() const {
#if defined(__CUDA_ARCH__)
    for (int i = thread_; i < s_.listed; i += kItemThreads) {
      const ListedSlot listed{s_.list[i]};
      asm volatile("prefetch.global.L2 [%0];" : : "l"(block(listed.m(), listed.slot())));
    }
#endif
  }

  struct Header {
    std::uint32_t items, bins;
  };
  __device__ Header write_own_header(std::uint16_t* s_items) const {
    const int mb = group_.first + lane_;
    const MacroblockRecords records(batch_, group_, mb);
    const bool qp_changed = core::changes_qp(records.before);
    if constexpr (kInter) {
      if (!batch_.params[group_.picture].key) {
        const PHeader header =
            write_p_header(records.own, qp_changed, records.left, records.above,
                           batch_.motion + (records.own - batch_.macroblocks), batch_.mb_width, mb, s_items);
        return {static_cast<std::uint32_t>(header.end - s_items), header.bins};
      }
    }
    const auto items = static_cast<std::uint32_t>(
        write_header(records.own, qp_changed, records.left, records.above, mb, s_items) - s_items);
    return {items, items - (s_.kinds[lane_] == core::MacroblockKind::pcm ? core::kPcmItems : 0)};
  }

  // The items are written to memory that is not in use yet, because counting them would take other
  // instructions, which are not in the cache.
  __device__ void count_headers() {
    constexpr int kMaxItems = kInter ? kMaxPHeaderItems : kMaxHeaderItems;
    static_assert(kGroup * kMaxItems <= kSharedItems);
    Header header{};
    if (lane_ < macroblocks()) header = write_own_header(s_.items + lane_ * kMaxItems);
    s_.header_items[lane_] = static_cast<std::uint16_t>(header.items);
    const std::uint32_t bins = warp_sum(header.bins);
    if (lane_ == 0) atomicAdd(&s_.bins, bins + static_cast<std::uint32_t>(macroblocks()));
  }

  __device__ const std::int16_t* block(int m, int slot) const {
    return d_levels_ + m * core::kLevelsPerMacroblock + slot * core::kLevelsPerBlock;
  }
  __device__ bool is_large(int m, int slot) const {
    const bool large =
        kInter ? (s_.large_transforms >> m & 1) != 0 : s_.kinds[m] == core::MacroblockKind::intra8x8;
    return large && slot < core::kSlotChromaDc;
  }

  static __device__ int part_of(int slot) {
    return (slot - core::kSlotLuma) % core::kParts8x8;
  }
  // The levels of a block, or of a part of an 8x8 block, whose levels lie in four blocks. Blocks without
  // levels are not read.
  template <bool kOnce>
  __device__ __forceinline__ BlockLevels levels_of(int m, int slot) const {
    if (!is_large(m, slot)) {
      const auto* const d_block = reinterpret_cast<const BlockLevels*>(block(m, slot));
      return kOnce ? load_levels(d_block) : *d_block;
    }
    const int part = part_of(slot), first = slot - part;
    const std::uint32_t filled = s_.flags[m] >> first;
    uint2 fours[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      fours[i] = {};
      if ((filled >> i & 1) != 0) fours[i] = *reinterpret_cast<const uint2*>(block(m, first + i) + 4 * part);
    }
    const auto pair = [](std::uint32_t even, std::uint32_t odd, std::uint32_t bytes) {
      return __byte_perm(even, odd, bytes);
    };
    constexpr std::uint32_t kLow = 0x5410, kHigh = 0x7632;
    return {{pair(fours[0].x, fours[1].x, kLow), pair(fours[2].x, fours[3].x, kLow),
             pair(fours[0].x, fours[1].x, kHigh), pair(fours[2].x, fours[3].x, kHigh)},
            {pair(fours[0].y, fours[1].y, kLow), pair(fours[2].y, fours[3].y, kLow),
             pair(fours[0].y, fours[1].y, kHigh), pair(fours[2].y, fours[3].y, kHigh)}};
  }

  // The levels of an 8x8 block by position.
  __device__ std::uint64_t nonzero_8x8(int m, int first) const {
    std::uint64_t nonzero = 0;
    for (int part = core::kParts8x8; part-- > 0;) nonzero = nonzero << 16 | s_.nonzero[first + part][m];
    return nonzero;
  }
  static __device__ int last_of(std::uint64_t nonzero) {
    return 63 - __clzll(static_cast<long long>(nonzero));
  }

  // Counts the items of coded_block_flag and the levels, and stores their number and the mask of the levels.
  // The significance map of an 8x8 block counts towards its last part. Returns the number of bins. All lanes
  // of a warp call this.
  __device__ std::uint32_t count_block(bool exists, int m, int slot) {
    const bool large = exists && is_large(m, slot);
    core::CabacItemCounter counter;
    if (exists) {
      std::uint32_t mask = 0;
      if (!large) ++counter.items, ++counter.bins;
      if (large || (s_.flags[m] >> slot & 1) != 0) {
        const LevelSums sums(levels_of<false>(m, slot));
        mask = sums.mask();
        if (large) {
          const int part = part_of(slot);
          count_magnitudes(sums, core::PartLevels8x8{block(m, slot - part), part}, mask, counter);
        } else {
          count_flags(sums.last(), sums.count(), core::slot_max_num_coeff(s_.kinds[m], slot) - 1, counter);
          count_magnitudes(sums, block(m, slot), mask, counter);
        }
      }
      s_.nonzero[slot][m] = static_cast<std::uint16_t>(mask);
    }
    if (__any_sync(kAllLanes, large)) {
      __syncwarp();
      if (large && part_of(slot) == core::kParts8x8 - 1) {
        const std::uint64_t nonzero = nonzero_8x8(m, slot - part_of(slot));
        count_flags(last_of(nonzero), __popcll(nonzero), 63, counter);
      }
    }
    if (exists) s_.places[slot][m] = static_cast<std::uint16_t>(counter.items);
    return counter.bins;
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

  // Puts what precedes the residual of the lane's macroblock, and its end_of_slice_flag.
  __device__ void put_header(std::uint16_t* s_first, int first, int end) {
    if (lane_ >= first && lane_ < end) {
      write_own_header(s_first + s_.begins[lane_]);
      const bool ends_slice = group_.first + lane_ + 1 == group_.slice_end;
      s_first[s_.begins[lane_ + 1] - 1] = core::terminate_item(ends_slice ? 1 : 0);
    }
    __syncwarp();
  }

  // Puts a block, or a part of an 8x8 block: its part of the significance map and its levels, which are not
  // adjacent. All lanes of a warp call this.
  __device__ void put_block(const StagedLevels& staged, std::uint16_t* s_first, bool exists, int m,
                            int slot) {
    const bool large = exists && is_large(m, slot);
    const std::uint32_t nonzero = exists ? s_.nonzero[slot][m] : 0;
    BlockLevels levels;
    if (nonzero != 0) levels = levels_of<true>(m, slot), staged.store(levels);
    core::AbsLevelState state;
    if (__any_sync(kAllLanes, large))
      state = levels_above(levels, nonzero, large ? part_of(slot) : core::kParts8x8);
    if (!exists) return;
    std::uint16_t* const s_begin = s_first + s_.begins[m];
    core::CabacItemWriter writer{s_begin + s_.places[slot][m]};
    const core::BlockCategory category = core::slot_category(s_.kinds[m], slot);
    ListedContexts contexts{core::kCtxSignificant8x8, core::kCtxLast8x8, s_.incs[core::kParts8x8]};
    int abs_level = core::kCtxAbsLevel8x8, positions, last;
    std::uint16_t* s_levels = nullptr;
    if (large) {
      const int part = part_of(slot), first = slot - part;
      const std::uint64_t all = nonzero_8x8(m, first), below = (std::uint64_t{1} << 16 * part) - 1;
      last = last_of(all);
      positions = core::significance_positions_8x8(last, part);
      const int block_begin = s_.places[first][m], block_end = s_.places[first + core::kParts8x8][m];
      const int flags = core::significance_flags(last, __popcll(all), 63);
      const int part_end = part == core::kParts8x8 - 1 ? block_end - flags : s_.places[slot + 1][m];
      writer.next = s_begin + block_begin + 16 * part + __popcll(all & below);
      s_levels = s_begin + block_end - (part_end - block_begin);
      last -= 16 * part;
      contexts.s_incs = s_.incs[part];
    } else {
      core::CabacNeighbours n{};
      n.left.coded_blocks = s_.left_flags[m], n.above.coded_blocks = s_.above_flags[m];
      core::put_coded_block_flag(writer, nonzero, category, core::coded_block_flag_inc(slot, s_.flags[m], n));
      const core::CabacBlockContexts of_category = core::block_contexts(category);
      contexts.first_significant = of_category.significant, contexts.first_last = of_category.last;
      abs_level = of_category.abs_level;
      last = 31 - __clz(static_cast<int>(nonzero));  // -1 if there is none
      positions = min(last + 1, core::max_num_coeff(category) - 1);
    }
    core::put_significance_map(writer, nonzero, positions, last, contexts);
    if (large) writer.next = s_levels;
    core::put_abs_levels(writer, staged, nonzero, abs_level, core::greater_limit(category), state);
  }

  // Returns the state of levels after the higher parts of an 8x8 block, which the following lanes hold. All
  // lanes of a warp call this.
  static __device__ core::AbsLevelState levels_above(const BlockLevels& levels, std::uint32_t nonzero,
                                                     int part) {
    const int greater = nonzero != 0 ? greater_levels(levels) : 0;
    const int own = greater << 8 | (__popc(nonzero) - greater);
    int above = 0;
#pragma unroll
    for (int i = 1; i < core::kParts8x8; ++i) {
      const int its = __shfl_down_sync(kAllLanes, own, i);
      if (part + i < core::kParts8x8) above += its;
    }
    return {above & 255, above >> 8};
  }

  __device__ void put_blocks(std::uint16_t* s_first, int first, int end) {
    const StagedLevels staged(
        StagedLevels::address(s_.levels + thread_ / 32 * StagedLevels::kWarpBytes, lane_));
    take_rows([&](bool exists, const ListedSlot& listed) {
      const int m = listed.m();
      put_block(staged, s_first, exists && m >= first && m < end, m, listed.slot());
    });
  }

  // Stores `count` items of the items, the first one as item `begin` of the slice, and the padding after
  // them, as far as they lie in the window. The window begins and ends at multiples of eight.
  __device__ void store(const PoolWindow& window, std::uint32_t begin, std::uint32_t count,
                        std::uint32_t padding) const {
    const auto* const s_pairs = reinterpret_cast<const std::uint32_t*>(s_.items);
    const std::uint32_t end = begin + count, stored_end = min(end + padding, window.end);
    for (std::uint32_t first = max(begin & ~7u, window.begin) + 8 * static_cast<std::uint32_t>(thread_);
         first < stored_end; first += 8 * kItemThreads) {
      if (first >= begin && first + 8 <= end) {
        const std::uint32_t at = first - begin, shift = 16 * (at % 2);
        std::uint32_t pairs[5];
#pragma unroll
        for (int i = 0; i < 5; ++i) pairs[i] = s_pairs[at / 2 + i];
        *reinterpret_cast<uint4*>(window.at(first)) = {
            __funnelshift_r(pairs[0], pairs[1], shift), __funnelshift_r(pairs[1], pairs[2], shift),
            __funnelshift_r(pairs[2], pairs[3], shift), __funnelshift_r(pairs[3], pairs[4], shift)};
        continue;
      }
      for (std::uint32_t i = max(first, begin); i < min(first + 8, stored_end); ++i)
        *window.at(i) = i < end ? s_.items[i - begin] : core::kPaddingItem;
    }
  }

  const core::BatchView& batch_;
  const Group group_;
  GroupItemsShared& s_;
  const int thread_, lane_;
  const std::int16_t* const d_levels_;
};

}  // namespace cu264::entropy
