// The macroblock wavefront over a batch of pictures. Rows are taken by ticket, and each row waits for the row
// above where it needs it.
#pragma once

#include <cstdint>

#include "encoder/cuda/row_progress.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// All pointers are to device memory. Record is the type of what a macroblock leaves for the one below.
template <class Record>
struct Wavefront {
  Record* bottom;      // [picture][mb]
  unsigned* progress;  // [picture][row]: macroblocks whose bottom row is published
  unsigned* ticket;
};

template <bool kRd>
__device__ void store_macroblock(const WarpState<kRd>& s, const BatchView& batch,
                                 const MacroblockPosition& position, const LaneIndices& lane,
                                 const core::MacroblockRecord& record) {
  const std::size_t mb = static_cast<std::size_t>(position.picture) * batch.macroblocks_per_picture() +
                         static_cast<std::size_t>(position.mb_y) * batch.mb_width + position.mb_x;
  const int i = lane.lane;
  if (i < 8) {
    std::uint32_t word = 0;
    if (i == 0) {
      word = pack4(static_cast<int>(record.kind), record.intra16x16_pred_mode, record.intra_chroma_pred_mode,
                   record.coded_block_pattern);
    } else if (i == 1) {
      word = pack4(record.qp, 0, record.transform_8x8_mode, record.inter_transform_8x8);
    } else if (i < 6) {
      const int block = 4 * (i - 2), bx = core::luma_block_x(block), by = core::luma_block_y(block);
      word = pack4(s.modes.at(bx, by), s.modes.at(bx + 1, by), s.modes.at(bx, by + 1),
                   s.modes.at(bx + 1, by + 1));
    } else if (i == 6) {
      word = record.nonzero_blocks;
    }
    reinterpret_cast<std::uint32_t*>(batch.macroblocks + mb)[i] = word;
  } else if (i < 16) {
    reinterpret_cast<std::uint32_t*>(batch.total_coeff + mb * core::kTotalCoeffStride)[i - 8] =
        reinterpret_cast<const std::uint32_t*>(s.counts)[i - 8];
  }
  for (int k = i; k < 2 * core::kBlocksPerMacroblock; k += 32) {
    if ((record.nonzero_blocks >> (k >> 1)) & 1) {
      reinterpret_cast<uint4*>(batch.levels + mb * core::kLevelsPerMacroblock)[k] =
          reinterpret_cast<const uint4*>(s.levels)[k];
    }
  }
  if (batch.reconstruction == nullptr) return;
  const int width = 16 * batch.mb_width, height = 16 * batch.mb_height;
  const std::size_t luma_bytes = static_cast<std::size_t>(width) * height;
  std::uint8_t* const planes = batch.reconstruction + position.picture * (luma_bytes * 3 / 2);
  for (int k = i; k < 64; k += 32) {
    const std::size_t at =
        static_cast<std::size_t>(16 * position.mb_y + (k >> 2)) * width + 16 * position.mb_x + 4 * (k & 3);
    *reinterpret_cast<std::uint32_t*>(planes + at) = s.canvas.word(4 * (k & 3), k >> 2);
  }
  const int c = i >> 4, row = (i >> 1) & 7;
  const std::size_t at = luma_bytes + c * (luma_bytes / 4) +
                         static_cast<std::size_t>(8 * position.mb_y + row) * (width / 2) + 8 * position.mb_x +
                         4 * (i & 1);
  *reinterpret_cast<std::uint32_t*>(planes + at) =
      *reinterpret_cast<const std::uint32_t*>(&s.chroma_out[c][row][4 * (i & 1)]);
}

// A macroblock row of a picture. Tickets stand for row 0 of every picture, then row 1 of every picture, and
// so on; a ticket past the last row means that no row is left.
template <class Record>
struct Row {
  MacroblockPosition position;  // of the current macroblock; mb_x and what depends on it change
  std::size_t index;            // index in the arrays of the wavefront
  Record* bottom;               // record of its first macroblock

  __device__ Row(const BatchView& batch, const Wavefront<Record>& wavefront, unsigned ticket) {
    position.mb_y = static_cast<int>(ticket / static_cast<unsigned>(batch.pictures));
    position.picture = static_cast<int>(ticket % static_cast<unsigned>(batch.pictures));
    const int slice = core::slice_of_row(position.mb_y, batch.slices, batch.mb_height);
    position.above = position.mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
    index = static_cast<std::size_t>(position.picture) * batch.mb_height + position.mb_y;
    bottom = wavefront.bottom + index * batch.mb_width;
  }
  __device__ void move_to(const BatchView& batch, int mb_x) {
    position.mb_x = mb_x;
    position.left = mb_x > 0;
    position.above_right = position.above && mb_x + 1 < batch.mb_width;
  }
};

// Loads the macroblock's neighbours as soon as the row above has published them. `published_above` is the
// number of macroblocks of the row above that are known to be published.
template <bool kRd>
__device__ void load_neighbours(WarpState<kRd>& s, const BatchView& batch,
                                const Wavefront<BottomRow>& wavefront, const Row<BottomRow>& row,
                                const LaneIndices& lane, unsigned& published_above) {
  shift_left_neighbours(s, row.position, lane);
  const unsigned needed = static_cast<unsigned>(row.position.mb_x) + 1;
  if (row.position.above && published_above < needed) {
    published_above = wait_for_row(wavefront.progress + row.index - 1, needed);
  }
  __syncwarp();
  load_above_neighbours(s, row.bottom - batch.mb_width + row.position.mb_x, row.position, lane);
  __syncwarp();
}

// The samples above and to the right of a macroblock, which the search asks for when it needs them:
// Intra8x8Workspace's AboveRight.
struct AboveRightOfRow {
  const BottomRow* record;  // null: not available
  unsigned* progress;       // of the row above
  unsigned needed;
  unsigned& published;

  __device__ AboveRightOfRow(const BatchView& batch, const Wavefront<BottomRow>& wavefront,
                             const Row<BottomRow>& row, unsigned& published_above)
      : record(row.position.above_right ? row.bottom - batch.mb_width + row.position.mb_x + 1 : nullptr),
        progress(wavefront.progress + row.index - 1),
        needed(static_cast<unsigned>(row.position.mb_x) + 2),
        published(published_above) {}

  template <bool kRd>
  __device__ void load(WarpState<kRd>& s, const LaneIndices& lane) const {
    if (record == nullptr) return;
    if (published < needed) published = wait_for_row(progress, needed);
    __syncwarp();
    if (lane.lane < 2) {
      *reinterpret_cast<std::uint32_t*>(s.canvas.at(16 + 4 * lane.lane, -1)) =
          __ldcg(reinterpret_cast<const std::uint32_t*>(record->luma) + lane.lane);
    }
    __syncwarp();
  }
};

// Publishes what the row below needs.
template <bool kRd>
__device__ void publish_macroblock(WarpState<kRd>& s, const Wavefront<BottomRow>& wavefront,
                                   const Row<BottomRow>& row, const LaneIndices& lane) {
  store_bottom_row(s, row.bottom + row.position.mb_x, lane);
  __syncwarp();
  if (lane.lane == 0) {
    publish_in_row(wavefront.progress + row.index, static_cast<unsigned>(row.position.mb_x) + 1);
  }
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
