// The items of a batch in device memory. An item is a step of the arithmetic coder (core/cabac_item.h).
//
// Items are cut into chunks of equal length, and eight chunks make a segment. Each slice begins a new
// segment, and its segments follow those of the previous slice, so all segments of a batch are numbered
// consecutively. The pool holds a part of them: the first round of a batch makes and codes the items of the
// first segments, the next round those that follow, and so on, wherever that cuts a slice. How many segments
// a batch has depends on its pictures, and only the device knows. So the host launches as many rounds as any
// pictures could need, and rounds with nothing left to do end at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cabac_item.h"
#include "core/hd.h"
#include "entropy/cabac/slice_bits_layout.h"

namespace cu264::entropy {

inline constexpr int kChunksPerSegment = 8;

// The coder of a chunk begins this many items before it. After that many items two ranges that began unequal
// have become equal in all but one case in ten thousand.
inline constexpr int kWarmUpItems = 512;

// No macroblock has more items (group_items.cuh).
inline constexpr std::uint32_t kMaxMacroblockItems = 8192;

// Returns how many blocks a kernel has on a multiprocessor in a round, at most `most`. Few batches have
// anything left for late rounds, and a kernel with nothing to do ends sooner if it has fewer blocks.
CU264_HD unsigned blocks_in_round(unsigned most, std::uint32_t round) {
  constexpr std::uint32_t kLateRound = 4;
  return round < kLateRound || most < 4 ? most : most / 4;
}

// How a batch is cut. Benchmarks and tests also choose cuts that are not the best.
struct ChunkShape {
  int items_log2 = 0;  // items of a chunk, 10 to 12
  int lanes_log2 = 0;  // chunks of a warp, 0 to 5
};

// The numbers of contexts that items have. `inter`: some slices may be P slices.
CU264_HD constexpr int item_contexts(bool inter) {
  return inter ? core::kPItemContexts : core::kCabacContexts;
}

struct PoolLayout {
  ChunkShape shape;
  bool inter = false;               // see item_contexts
  std::uint32_t segments = 0;       // that the pool holds
  std::uint32_t most_segments = 0;  // that a batch can have

  CU264_HD_MEMBER std::uint32_t chunk_items() const { return 1u << shape.items_log2; }
  CU264_HD_MEMBER std::uint32_t segment_items() const { return kChunksPerSegment * chunk_items(); }
  // The number of segments that `items` items of a slice take.
  CU264_HD_MEMBER std::uint32_t segments_of(std::uint32_t items) const {
    return (items + segment_items() - 1) / segment_items();
  }
  CU264_HD_MEMBER std::uint32_t chunks() const { return segments * kChunksPerSegment; }
  CU264_HD_MEMBER std::uint32_t rounds() const { return (most_segments + segments - 1) / segments; }
  // Includes the last items of the previous round.
  CU264_HD_MEMBER std::size_t items() const {
    return kWarmUpItems + static_cast<std::size_t>(segments) * segment_items();
  }
};

// Returns a layout of the caller's choice, for benchmarks and tests.
PoolLayout pool_layout(const SliceBitsLayout& slice_layout, ChunkShape shape, std::uint32_t segments,
                       bool inter = false);

// The most segments that a batch can have, whatever the shape of its chunks.
std::uint32_t most_segments(const SliceBitsLayout& slice_layout);

// The memory that batches of one encoder share: for items, and for the coding of their chunks (chunk_job.h).
struct PoolRoom {
  std::size_t items = 0;
  std::size_t chunk_bytes = 0;
};

// Returns the room for batches of up to this many pictures. The memory that codes the chunks may reuse the
// `stream_bytes` of the stream; more is needed only where there are few pictures.
PoolRoom pool_room(int pictures, int mb_width, int mb_height, int slices, std::size_t stream_bytes,
                   bool inter = false);

// Returns the layout for a batch: the fewer pictures, the more items each may have in a round.
PoolLayout pool_layout(const SliceBitsLayout& slice_layout, std::size_t macroblocks, const PoolRoom& room,
                       bool inter = false);

struct ItemPool {
  PoolLayout layout;
  std::uint16_t* items = nullptr;         // [layout.items()]
  std::uint32_t* slices = nullptr;        // [layout.most_segments]: whose slice's a segment is
  std::uint32_t* all_segments = nullptr;  // of the batch

  CU264_HD_MEMBER std::uint32_t first_segment(std::uint32_t round) const { return round * layout.segments; }
  // The number of segments of a round.
  CU264_HD_MEMBER std::uint32_t segments(std::uint32_t round) const {
    const std::uint32_t first = first_segment(round), all = *all_segments;
    if (all <= first) return 0;
    return all - first < layout.segments ? all - first : layout.segments;
  }
  // Where the items of a round's segment lie. The kWarmUpItems before them belong to the previous segment.
  CU264_HD_MEMBER std::uint16_t* items_of(std::uint32_t segment) const {
    return items + kWarmUpItems + static_cast<std::size_t>(segment) * layout.segment_items();
  }
};

// The items of a slice that the pool holds in a round: [begin, end) of the slice. The item number i is
// items[offset + i].
struct PoolWindow {
  std::uint16_t* d_items = nullptr;
  std::int64_t offset = 0;
  std::uint32_t begin = 0, end = 0;

  CU264_HD_MEMBER std::uint16_t* at(std::uint32_t item) const { return d_items + (offset + item); }
};

CU264_HD PoolWindow pool_window(const ItemPool& pool, std::uint32_t first_segment, std::uint32_t round) {
  constexpr std::int64_t kMax = 0xffffffffu;
  const std::int64_t size = pool.layout.segment_items(),
                     first = (static_cast<std::int64_t>(first_segment) - pool.first_segment(round)) * size,
                     end = static_cast<std::int64_t>(pool.layout.segments) * size - first;
  PoolWindow window;
  window.d_items = pool.items;
  window.offset = kWarmUpItems + first;
  window.begin = first >= 0 ? 0 : static_cast<std::uint32_t>(-first - kWarmUpItems);
  window.end = end <= 0 ? 0 : static_cast<std::uint32_t>(end < kMax ? end : kMax);
  return window;
}

}  // namespace cu264::entropy
