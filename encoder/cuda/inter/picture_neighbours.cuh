// I macroblocks of P pictures take their neighbours from the picture in memory, where inter macroblocks are
// already and I macroblocks come in their order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/block.h"
#include "core/coded_picture.h"
#include "encoder/cuda/inter/chain_view.h"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/wavefront.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// AboveRight of a workspace: what is above and to the right has been loaded.
struct NothingToWaitFor {
  template <bool kRd>
  __device__ void load(WarpState<kRd>&, const LaneIndices&) const {}
};

// Another block may have written the sample since this one's L1 cache had it.
__device__ inline std::uint8_t fresh(const std::uint8_t* from) {
  return __ldcg(from);
}

// Loads the samples, modes and counts around a macroblock, as shift_left_neighbours and put_above_neighbours
// leave them.
template <bool kRd>
__device__ void load_picture_neighbours(WarpState<kRd>& s, const BatchView& batch,
                                        const MacroblockPosition& position, const LaneIndices& lane) {
  const int i = lane.lane, width = 16 * batch.mb_width, height = 16 * batch.mb_height;
  const std::size_t luma_bytes = static_cast<std::size_t>(width) * height;
  const std::uint8_t* const planes = batch.reconstruction + position.picture * (luma_bytes * 3 / 2);
  const std::uint8_t* const luma =
      planes + static_cast<std::size_t>(16 * position.mb_y) * width + 16 * position.mb_x;
  constexpr std::uint8_t kNone = 128;
  const bool left = position.left, above = position.above;
  __syncwarp();
  if (i < 16) {
    const std::uint8_t sample = left ? fresh(luma + static_cast<std::size_t>(i) * width - 1) : kNone;
    s.left_luma[4 + i] = sample;
    *s.canvas.at(-1, i) = sample;
  }
  if (i < 24) {
    const bool there = i < 16 ? above : position.above_right;
    *s.canvas.at(i, -1) = there ? fresh(luma - width + i) : kNone;
  } else if (i == 24) {
    const std::uint8_t corner = left && above ? fresh(luma - width - 1) : kNone;
    *s.canvas.at(-1, -1) = s.left_luma[3] = corner;
  }
  const int c = i >> 4, at = i & 7;
  const std::uint8_t* const chroma = planes + luma_bytes + c * (luma_bytes / 4) +
                                     static_cast<std::size_t>(8 * position.mb_y) * (width / 2) +
                                     8 * position.mb_x;
  if ((i & 8) == 0) {
    s.left_chroma[c][4 + at] = left ? fresh(chroma + static_cast<std::size_t>(at) * (width / 2) - 1) : kNone;
  } else {
    s.above_chroma[c][4 + at] = above ? fresh(chroma - width / 2 + at) : kNone;
  }
  if ((i & 15) == 0) {
    const std::uint8_t corner = left && above ? fresh(chroma - width / 2 - 1) : kNone;
    s.above_chroma[c][3] = s.left_chroma[c][3] = corner;
  }

  const std::size_t mb = static_cast<std::size_t>(position.picture) * batch.macroblocks_per_picture() +
                         static_cast<std::size_t>(position.mb_y) * batch.mb_width + position.mb_x;
  const std::size_t left_mb = mb - 1, above_mb = mb - batch.mb_width;
  const auto count = [&](std::size_t of, int slot) {
    return static_cast<std::int8_t>(fresh(batch.total_coeff + of * core::kTotalCoeffStride + slot));
  };
  const auto mode = [&](std::size_t of, int block) {
    return static_cast<std::int8_t>(
        fresh(reinterpret_cast<const std::uint8_t*>(batch.macroblocks[of].intra4x4_pred_mode) + block));
  };
  const int k = i & 3;
  if (i < 4) {
    const int block = core::luma_block_index(3, k);
    s.luma_counts.at(-1, k) = left ? count(left_mb, core::kSlotLuma + block) : -1;
    s.modes.at(-1, k) = left ? mode(left_mb, block) : -1;
  } else if (i < 8) {
    const int block = core::luma_block_index(k, 3);
    s.luma_counts.at(k, -1) = above ? count(above_mb, core::kSlotLuma + block) : -1;
    s.modes.at(k, -1) = above ? mode(above_mb, block) : -1;
  } else if (i < 12) {
    const int component = k >> 1, block = 4 * component + 2 * (k & 1) + 1;
    s.chroma_counts[component].at(-1, k & 1) = left ? count(left_mb, core::kSlotChromaAc + block) : -1;
  } else if (i < 16) {
    const int component = k >> 1, block = 4 * component + 2 + (k & 1);
    s.chroma_counts[component].at(k & 1, -1) = above ? count(above_mb, core::kSlotChromaAc + block) : -1;
  }
  __syncwarp();
}

// A macroblock row whose likely I macroblocks are searched from left to right.
class IntraRow {
 public:
  MacroblockPosition position{};  // of the current macroblock

  // The ticket is as for Row.
  __device__ IntraRow(const BatchView& batch, unsigned* progress, unsigned ticket) {
    position.mb_y = static_cast<int>(ticket / static_cast<unsigned>(batch.pictures));
    position.picture = static_cast<int>(ticket % static_cast<unsigned>(batch.pictures));
    const int slice = core::slice_of_row(position.mb_y, batch.slices, batch.mb_height);
    position.above = position.mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
    progress_ = progress + static_cast<std::size_t>(position.picture) * batch.mb_height + position.mb_y;
    position.mb_x = -1;
  }

  // Goes to the next macroblock that is likely to be an I macroblock, once its neighbours are final. Returns
  // false if there is none; then the row is final. The macroblocks before it are.
  __device__ bool find_next(const BatchView& batch, const InterChoice* choices, const LaneIndices& lane) {
    const core::MacroblockRecord* const records =
        batch.macroblocks + static_cast<std::size_t>(position.picture) * batch.macroblocks_per_picture() +
        static_cast<std::size_t>(position.mb_y) * batch.mb_width;
    int next = batch.mb_width;
    for (int first = position.mb_x + 1; first < batch.mb_width; first += 32) {
      const int mb = first + lane.lane;
      const bool likely =
          mb < batch.mb_width && choices[mb].intra_is_likely && records[mb].kind != core::MacroblockKind::pcm;
      const unsigned found = __ballot_sync(kWarp, likely);
      if (found == 0) continue;
      next = first + __ffs(static_cast<int>(found)) - 1;
      break;
    }
    publish(next, lane);
    if (next == batch.mb_width) return false;
    position.mb_x = next;
    position.left = next > 0;
    position.above_right = position.above && next + 1 < batch.mb_width;
    if (position.above) {
      const unsigned needed = static_cast<unsigned>(min(next + 2, batch.mb_width));
      if (above_ < needed) above_ = wait_for_row(progress_ - 1, needed);
      __syncwarp();
    }
    return true;
  }

  // The current macroblock is final.
  __device__ void finish(const LaneIndices& lane) {
    __syncwarp();
    publish(position.mb_x + 1, lane);
  }

 private:
  __device__ void publish(int mbs, const LaneIndices& lane) {
    if (lane.lane == 0) {
      ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>(*progress_)
          .store(static_cast<unsigned>(mbs), ::cuda::memory_order_release);
    }
  }

  unsigned* progress_;
  unsigned above_ = 0;  // macroblocks of the row above that are known to be final
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
