#include "entropy/cabac/item_pool.h"

#include <algorithm>

#include "entropy/cabac/chunk_job.h"

namespace cu264::entropy {
namespace {

// Small chunks take less time; large ones take less memory and fewer instructions for their beginnings.
// Chosen for a batch of this many macroblocks.
constexpr std::size_t kMaxSmallBatch = 32768;
ChunkShape suitable_shape(std::size_t macroblocks) {
  if (macroblocks <= kMaxSmallBatch) return {10, 3};
  if (macroblocks <= 131072) return {10, 5};
  if (macroblocks <= 524288) return {11, 5};
  return {12, 5};
}
constexpr int kMinChunks = 10, kMaxChunks = 12;  // items, as powers of two

// Natural pictures have about 200 items a macroblock at QP 27, and 500 at 2 bits a sample. The pool of a
// single picture is larger, because empty rounds cost a small batch most.
constexpr std::size_t kMacroblockItems = 512, kMacroblockItemsOfOnePicture = 2736;

// It is not worth having fewer items than this in a round for the sake of smaller chunks.
constexpr std::size_t kMinMacroblockItems = 400;

std::size_t segment_items(const ChunkShape& shape) {
  return std::size_t{kChunksPerSegment} << shape.items_log2;
}

std::size_t bytes_of_chunks(const ChunkShape& shape, std::size_t segments, std::size_t macroblocks,
                            bool inter) {
  PoolLayout layout;
  layout.shape = shape;
  layout.inter = inter;
  layout.segments = static_cast<std::uint32_t>(segments);
  Arena arena(nullptr);
  carve_chunks(arena, layout, macroblocks);
  return arena.bytes();
}

// The segments for which there is room.
std::size_t segments_in(const PoolRoom& room, const ChunkShape& shape, std::size_t macroblocks, bool inter) {
  constexpr std::size_t kSample = 4096;
  const std::size_t fixed = bytes_of_chunks(shape, 0, macroblocks, inter) + 16 * Arena::kAlignment,
                    each = (bytes_of_chunks(shape, kSample, 0, inter) + kSample - 1) / kSample;
  const std::size_t by_bytes = room.chunk_bytes > fixed ? (room.chunk_bytes - fixed) / each : 0;
  return std::min(room.items / segment_items(shape), by_bytes);
}

}  // namespace

PoolLayout pool_layout(const SliceBitsLayout& slice_layout, ChunkShape shape, std::uint32_t segments,
                       bool inter) {
  PoolLayout layout;
  layout.shape = shape;
  layout.inter = inter;
  const auto slices = static_cast<std::uint32_t>(slice_layout.slice_count());
  layout.most_segments =
      slices *
      layout.segments_of(static_cast<std::uint32_t>(slice_layout.most_macroblocks) * kMaxMacroblockItems);
  layout.segments = std::clamp(segments, 1u, layout.most_segments);
  return layout;
}

std::uint32_t most_segments(const SliceBitsLayout& slice_layout) {
  return pool_layout(slice_layout, {kMinChunks, 0}, 1).most_segments;
}

PoolRoom pool_room(int pictures, int mb_width, int mb_height, int slices, std::size_t stream_bytes,
                   bool inter) {
  const std::size_t picture = static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height),
                    all = static_cast<std::size_t>(pictures) * picture,
                    slice_count = static_cast<std::size_t>(pictures) * static_cast<std::size_t>(slices);
  const ChunkShape shape = suitable_shape(all);
  const std::size_t items = std::max(all * kMacroblockItems, picture * kMacroblockItemsOfOnePicture);
  // Each slice has at least one segment.
  const std::size_t segments = std::max(items / segment_items(shape) + 1, slice_count);
  PoolRoom room{segments * segment_items(shape), stream_bytes};
  if (all <= kMaxSmallBatch) {
    room.chunk_bytes =
        std::max(stream_bytes, bytes_of_chunks(shape, segments + 1, all, inter) + 16 * Arena::kAlignment);
  }
  return room;
}

PoolLayout pool_layout(const SliceBitsLayout& slice_layout, std::size_t macroblocks, const PoolRoom& room,
                       bool inter) {
  ChunkShape shape = suitable_shape(macroblocks);
  const auto segments = [&] { return segments_in(room, shape, macroblocks, inter); };
  while (shape.items_log2 < kMaxChunks &&
         segments() * segment_items(shape) < macroblocks * kMinMacroblockItems)
    ++shape.items_log2;
  return pool_layout(slice_layout, shape, static_cast<std::uint32_t>(segments()), inter);
}

}  // namespace cu264::entropy
