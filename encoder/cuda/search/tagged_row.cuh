// What a pair of warps leaves for the macroblock row below: a BottomRow whose words each come with a tag. A
// word and its tag are stored at once, so the row below waits for the words themselves. It needs no fence,
// and no second read after a flag.
#pragma once

#include <cstdint>
#include <cuda/atomic>

#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// All zeros until it is published.
struct alignas(16) TaggedRow {
  std::uint64_t words[kBottomRowWords + 1];  // the last one is not used
};

inline constexpr std::uint64_t kPublishedTag = std::uint64_t{1} << 32;

using TaggedWord = ::cuda::atomic_ref<std::uint64_t, ::cuda::thread_scope_device>;

template <bool kRd>
__device__ void publish_tagged(WarpState<kRd>& s, TaggedRow& row, const LaneIndices& lane) {
  const std::uint64_t word = kPublishedTag | bottom_row_word(s, lane);
  if (lane.lane < kBottomRowWords) {
    TaggedWord(row.words[lane.lane]).store(word, ::cuda::memory_order_relaxed);
  }
}

// Waits until the first `count` words of the row are published, and returns the lane's word of these. The
// warps of that row hold an earlier ticket, so they are already running.
__device__ inline std::uint32_t wait_for_tagged(TaggedRow& row, const LaneIndices& lane,
                                                int count = kBottomRowWords) {
  const TaggedWord own(row.words[min(lane.lane, count - 1)]);
  std::uint64_t word = own.load(::cuda::memory_order_relaxed);
  while (!__all_sync(kWarp, word >= kPublishedTag)) word = own.load(::cuda::memory_order_relaxed);
  return static_cast<std::uint32_t>(word);
}

// Intra8x8Workspace's AboveRight.
struct AboveRightTagged {
  TaggedRow* row;  // null: not available

  template <bool kRd>
  __device__ void load(WarpState<kRd>& s, const LaneIndices& lane) const {
    if (row == nullptr) return;
    const std::uint32_t word = wait_for_tagged(*row, lane, 2);
    if (lane.lane < 2) *reinterpret_cast<std::uint32_t*>(s.canvas.at(16 + 4 * lane.lane, -1)) = word;
    __syncwarp();
  }
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
