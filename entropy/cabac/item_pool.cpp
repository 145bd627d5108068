#include "entropy/cabac/item_pool.h"

#include <algorithm>

namespace cu264::entropy {
namespace {

// Small chunks take less time, large ones fewer instructions for their beginnings and less memory.
constexpr ChunkShape kSmallBatch{10, 3}, kLargeBatch{12, 5};
constexpr std::size_t kMostOfSmallBatch = 32768;  // macroblocks

// Natural pictures have about 200 items a macroblock at QP 27, and 500 at 2 bits a sample. A pool of one
// picture is larger, because rounds for which nothing is left cost a small batch most.
constexpr std::size_t kMacroblockItems = 512, kMacroblockItemsOfOnePicture = 2736;

// Each slice has so many items a macroblock in the first round, also where slices are small.
constexpr std::size_t kSliceItems = 256;

}  // namespace

PoolLayout pool_layout(const StringLayout& strings, ChunkShape shape, std::uint32_t segments) {
  PoolLayout layout;
  layout.shape = shape;
  const auto slices = static_cast<std::uint32_t>(strings.slice_count());
  layout.most_segments = slices * layout.segments_of(static_cast<std::uint32_t>(strings.most_macroblocks) *
                                                     kMostMacroblockItems);
  layout.segments = std::min(segments, layout.most_segments);
  return layout;
}

PoolLayout pool_layout(int pictures, int mb_width, int mb_height, int slices) {
  const StringLayout strings = string_layout(pictures, mb_width, mb_height, slices);
  const std::size_t picture = static_cast<std::size_t>(mb_width) * static_cast<std::size_t>(mb_height),
                    all = static_cast<std::size_t>(pictures) * picture;
  const ChunkShape shape = all > kMostOfSmallBatch ? kLargeBatch : kSmallBatch;
  const std::size_t segment = std::size_t{kChunksPerSegment} << shape.items_log2;
  const auto segments_of = [segment](std::size_t items) { return (items + segment - 1) / segment; };
  const std::size_t for_slices =
      strings.slice_count() * segments_of(static_cast<std::size_t>(strings.most_macroblocks) * kSliceItems);
  const std::size_t segments = std::max(
      {segments_of(all * kMacroblockItems), segments_of(picture * kMacroblockItemsOfOnePicture), for_slices});
  return pool_layout(strings, shape, static_cast<std::uint32_t>(segments));
}

}  // namespace cu264::entropy
