// What a warp keeps in shared memory about its macroblock, and how it is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/quant.h"
#include "core/searched_sizes.h"
#include "encoder/cuda/batch.h"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#if defined(CU264_COUNTS_CABAC)
#include "encoder/cuda/search/warp_cabac_rdoq.cuh"
#else
#include "encoder/cuda/search/warp_rdoq.cuh"
#endif
#include "encoder/presets.h"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// What the macroblocks below need from a macroblock's bottom row: samples before the loop filter, prediction
// modes, counts.
struct alignas(16) BottomRow {
  std::uint8_t luma[16];
  std::uint8_t chroma[2][8];
  std::uint8_t modes[4];
  std::uint8_t luma_counts[4];
  std::uint8_t chroma_counts[2][2];
  std::uint32_t unused;
};
static_assert(sizeof(BottomRow) == 48, "three 16-byte transactions");
inline constexpr int kBottomRowWords = 11;  // those in use

// The macroblock's reconstruction with its border: the row above, the corner, four samples above and to the
// right, and the column to the left. Rows of samples start on word boundaries.
struct Canvas {
  static constexpr int kPitch = 32;
  std::uint8_t samples[17 * kPitch];
  __device__ std::uint8_t* at(int x, int y) { return samples + (y + 1) * kPitch + 4 + x; }
  __device__ std::uint32_t word(int x, int y) const {
    return *reinterpret_cast<const std::uint32_t*>(samples + (y + 1) * kPitch + 4 + x);
  }
};

// A value for each 4x4 block of a component and for its neighbours to the left and above; -1 for neighbours
// that do not exist. A row of blocks is one word.
template <int kSide>
struct BlockGrid {
  static constexpr int kPitch = 2 * kSide, kOwn = kPitch + kSide;  // index of block (0, 0)
  using Row = std::conditional_t<kSide == 4, std::uint32_t, std::uint16_t>;
  alignas(4) std::int8_t cells[(kSide + 1) * kPitch];
  __device__ std::int8_t& at(int x, int y) { return cells[kOwn + y * kPitch + x]; }
  __device__ int at(int x, int y) const { return cells[kOwn + y * kPitch + x]; }
  __device__ Row& row(int y) { return *reinterpret_cast<Row*>(&at(0, y)); }
  // The rate model's context of block (x, y), where the grid holds total_coeff.
  template <class Rate>
  __device__ int context(const Rate& rate, int x, int y) const {
    return rate.block_context(at(x - 1, y), at(x, y - 1));
  }
};

// The values that a block's predictions are taken from, laid out so that L3..L0 are one word.
struct alignas(4) ValueLine {
  std::uint8_t bytes[52];
  __device__ std::uint8_t* values() { return bytes + 3; }
  __device__ std::uint32_t left() const { return *reinterpret_cast<const std::uint32_t*>(bytes + 4); }
};

// Work space that only rate-distortion decisions need.
struct RdSpace {
  RdoqVariants variants;         // of luma
  RdoqVariants chroma_variants;  // apart, as another warp may be searching chroma at the same time
  // An Intra_16x16 or chroma candidate, and the best so far.
  alignas(16) std::uint8_t prediction[16][16];
  std::int16_t trial_levels[17][16];
  std::int16_t best_levels[17][16];
  std::int32_t best_dc[16];
  std::uint8_t trial_counts[32];
  std::uint8_t best_counts[32];
};
struct NoSpace {};

template <bool kRd>
struct alignas(16) WarpState {
  // The source.
  std::uint8_t luma[16][16];
  std::uint8_t chroma[2][8][8];
  // The reconstruction and its neighbours.
  Canvas canvas;
  std::uint8_t left_luma[20];        // corner at 3, samples from 4
  std::uint8_t above_chroma[2][12];  // corner at 3, samples from 4
  std::uint8_t left_chroma[2][12];   // the same
  std::uint8_t chroma_out[2][8][8];
  // The levels of the macroblock by slot, and total_coeff of its blocks and their neighbours.
  alignas(16) std::int16_t levels[core::kBlocksPerMacroblock][16];
  std::uint8_t counts[32];
  BlockGrid<4> luma_counts;
  BlockGrid<2> chroma_counts[2];
  BlockGrid<4> modes;  // Intra4x4PredMode
  // Scratch memory of the search.
  ValueLine line[2];                      // of two blocks
  alignas(4) std::int16_t source_ac[16];  // by raster block: SATD of the source without its DC coefficient
  alignas(4) std::int16_t source_dc[16];
  std::int32_t dc[16];
  // These describe the source in streams with Intra_8x8. By 8x8 block: the sum of samples, and the SATD with
  // the DC coefficient.
  core::SourceActivity activity;
  std::uint16_t samples8x8[4];
  std::uint16_t satd8x8[4];
  std::conditional_t<kRd, RdSpace, NoSpace> rd;
};

// The constants of the search at one QP.
struct SearchConstants {
  SearchParams search;
  bool transform_8x8_mode;
  int qp;
  int satd_lambda;
  int chroma_satd_lambda;
  int rd_lambda;
  int chroma_error_weight;
  core::Quantiser luma;
  core::Quantiser chroma;

  __device__ SearchRate rate() const {
#if defined(CU264_COUNTS_CABAC)
    return {transform_8x8_mode, &d_cabac_costs.at[qp]};
#else
    return {transform_8x8_mode};
#endif
  }
};

// Where a macroblock lies, and which neighbours it has.
struct MacroblockPosition {
  int picture;
  int mb_x;
  int mb_y;
  bool left;
  bool above;
  bool above_right;
};

__device__ inline std::uint32_t replicate(int byte) {
  return static_cast<std::uint32_t>(byte) * 0x01010101u;
}

__device__ inline std::uint32_t pack4(int a, int b, int c, int d) {
  return static_cast<std::uint32_t>(a) | (static_cast<std::uint32_t>(b) << 8) |
         (static_cast<std::uint32_t>(c) << 16) | (static_cast<std::uint32_t>(d) << 24);
}

// Sum of the four bytes of a word.
__device__ inline int sum4(std::uint32_t word) {
  return static_cast<int>(__dp4a(word, 0x01010101u, 0u));
}

// Four samples plus a constant, each clipped.
__device__ inline std::uint32_t add_to_samples(std::uint32_t samples, int value) {
  return value < 0 ? __vsubus4(samples, replicate(min(-value, 255)))
                   : __vaddus4(samples, replicate(min(value, 255)));
}

// The squared error of four samples.
__device__ inline int squared_error4(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t difference = __vabsdiffu4(a, b);
  return static_cast<int>(__dp4a(difference, difference, 0u));
}

// Loads eight or four samples of a row from column x on. Columns from `width` on repeat the last sample.
template <class Word>
__device__ inline Word load_row(const std::uint8_t* row, int x, int width) {
  constexpr int kBytes = sizeof(Word);
  const std::uint8_t* const from = row + x;
  if (x + kBytes <= width && reinterpret_cast<std::uintptr_t>(from) % kBytes == 0) {
    return *reinterpret_cast<const Word*>(from);
  }
  std::uint64_t bytes = 0;
#pragma unroll 1
  for (int i = kBytes - 1; i >= 0; --i) bytes = (bytes << 8) | row[min(x + i, width - 1)];
  return *reinterpret_cast<const Word*>(&bytes);
}

// A lane's share of the source of a macroblock.
struct SourceWords {
  uint2 luma;
  std::uint32_t chroma;
};

__device__ inline SourceWords fetch_source(const BatchView& batch, const MacroblockPosition& position,
                                           const LaneIndices& lane) {
  const SourcePicture& picture = batch.sources[position.picture];
  SourceWords words;
  {
    const int y = min(16 * position.mb_y + (lane.lane >> 1), batch.height - 1);
    words.luma = load_row<uint2>(picture.plane[0] + y * picture.pitch[0],
                                 16 * position.mb_x + 8 * (lane.lane & 1), batch.width);
  }
  const int chroma_width = (batch.width + 1) >> 1, chroma_height = (batch.height + 1) >> 1;
  if (batch.format == PixelFormat::i420) {
    const int c = lane.lane >> 4, x = 4 * (lane.lane & 1);
    const int y = min(8 * position.mb_y + ((lane.lane >> 1) & 7), chroma_height - 1);
    const std::uint8_t* const plane = c == 0 ? picture.plane[1] : picture.plane[2];
    const std::ptrdiff_t pitch = c == 0 ? picture.pitch[1] : picture.pitch[2];
    words.chroma = load_row<std::uint32_t>(plane + y * pitch, 8 * position.mb_x + x, chroma_width);
  } else if (batch.format == PixelFormat::nv12) {
    const int x = 8 * position.mb_x + 2 * (lane.lane & 3);
    const int y = min(8 * position.mb_y + (lane.lane >> 2), chroma_height - 1);
    const std::uint8_t* const row = picture.plane[1] + y * picture.pitch[1];
    const std::uint8_t* const first = row + 2 * min(x, chroma_width - 1);
    const std::uint8_t* const second = row + 2 * min(x + 1, chroma_width - 1);
    words.chroma = pack4(first[0], second[0], first[1], second[1]);
  } else {
    words.chroma = 0x80808080u;
  }
  return words;
}

// Puts the chroma of all lanes into memory that is aligned to four bytes.
__device__ inline void put_chroma(std::uint8_t (&chroma)[2][8][8], PixelFormat format,
                                  const LaneIndices& lane, std::uint32_t word) {
  if (format == PixelFormat::nv12) {
    const int row = lane.lane >> 2, x = 2 * (lane.lane & 3);
    *reinterpret_cast<std::uint16_t*>(&chroma[0][row][x]) = static_cast<std::uint16_t>(word);
    *reinterpret_cast<std::uint16_t*>(&chroma[1][row][x]) = static_cast<std::uint16_t>(word >> 16);
  } else {
    reinterpret_cast<std::uint32_t*>(chroma)[lane.lane] = word;
  }
}

template <bool kRd>
__device__ void put_source(WarpState<kRd>& s, PixelFormat format, const LaneIndices& lane,
                           const SourceWords& words) {
  *reinterpret_cast<uint2*>(&s.luma[lane.lane >> 1][8 * (lane.lane & 1)]) = words.luma;
  put_chroma(s.chroma, format, lane, words.chroma);
}

// Takes the neighbours to the left from the warp's state, which still holds its previous macroblock.
template <bool kRd>
__device__ void shift_left_neighbours(WarpState<kRd>& s, const MacroblockPosition& position,
                                      const LaneIndices& lane) {
  const int i = lane.lane;
  const std::uint8_t luma = position.left ? *s.canvas.at(15, i & 15) : 128;
  const std::uint8_t corner = position.left && position.above ? *s.canvas.at(15, -1) : 128;
  const std::uint8_t chroma = position.left ? s.chroma_out[(i >> 3) & 1][i & 7][7] : 128;
  const std::uint8_t chroma_corner = position.left && position.above ? s.above_chroma[i & 1][4 + 7] : 128;
  const std::int8_t luma_count = position.left ? s.luma_counts.at(3, i & 3) : -1;
  const std::int8_t chroma_count = position.left ? s.chroma_counts[(i >> 1) & 1].at(1, i & 1) : -1;
  const std::int8_t mode = position.left ? s.modes.at(3, i & 3) : -1;
  __syncwarp();
  if (i < 16) {
    s.left_luma[4 + i] = luma;
    *s.canvas.at(-1, i) = luma;
    s.left_chroma[i >> 3][4 + (i & 7)] = chroma;
  } else if (i < 20) {
    s.luma_counts.at(-1, i & 3) = luma_count;
    s.modes.at(-1, i & 3) = mode;
  } else if (i < 24) {
    s.chroma_counts[(i >> 1) & 1].at(-1, i & 1) = chroma_count;
  } else if (i < 26) {
    s.above_chroma[i & 1][3] = s.left_chroma[i & 1][3] = chroma_corner;
  } else if (i == 26) {
    *s.canvas.at(-1, -1) = s.left_luma[3] = corner;
  }
}

// The lane's word of a BottomRow where there is no macroblock above.
__device__ inline std::uint32_t word_of_nothing_above(const LaneIndices& lane) {
  // Modes and counts of unavailable neighbours are negative.
  return lane.lane >= 8 && lane.lane < kBottomRowWords ? 0xffffffffu : 0x80808080u;
}

// Takes the neighbours above from the words of the BottomRow of the macroblock there, one in each lane.
template <bool kRd>
__device__ void put_above_neighbours(WarpState<kRd>& s, const LaneIndices& lane, std::uint32_t word) {
  const int i = lane.lane;
  if (i < 4) {
    *reinterpret_cast<std::uint32_t*>(s.canvas.at(4 * i, -1)) = word;
  } else if (i < 8) {
    *reinterpret_cast<std::uint32_t*>(&s.above_chroma[(i - 4) >> 1][4 + 4 * (i & 1)]) = word;
  } else if (i == 8) {
    s.modes.row(-1) = word;
  } else if (i == 9) {
    s.luma_counts.row(-1) = word;
  } else if (i == 10) {
    s.chroma_counts[0].row(-1) = static_cast<std::uint16_t>(word);
    s.chroma_counts[1].row(-1) = static_cast<std::uint16_t>(word >> 16);
  }
}

// Loads the neighbours above from the record of the macroblock there. The reads bypass L1, which may hold
// stale data because another thread block writes the records.
template <bool kRd>
__device__ void load_above_neighbours(WarpState<kRd>& s, const BottomRow* above,
                                      const MacroblockPosition& position, const LaneIndices& lane) {
  std::uint32_t word = word_of_nothing_above(lane);
  if (position.above && lane.lane < kBottomRowWords) {
    word = __ldcg(reinterpret_cast<const std::uint32_t*>(above) + lane.lane);
  }
  put_above_neighbours(s, lane, word);
}

// The lane's word of the macroblock's own BottomRow.
template <bool kRd>
__device__ std::uint32_t bottom_row_word(WarpState<kRd>& s, const LaneIndices& lane) {
  const int i = lane.lane;
  std::uint32_t word = 0;
  if (i < 4) {
    word = s.canvas.word(4 * i, 15);
  } else if (i < 8) {
    word = *reinterpret_cast<const std::uint32_t*>(&s.chroma_out[(i - 4) >> 1][7][4 * (i & 1)]);
  } else if (i == 8) {
    word = s.modes.row(3);
  } else if (i == 9) {
    word = s.luma_counts.row(3);
  } else if (i == 10) {
    word = s.chroma_counts[0].row(1) | static_cast<std::uint32_t>(s.chroma_counts[1].row(1)) << 16;
  }
  return word;
}

template <bool kRd>
__device__ void store_bottom_row(WarpState<kRd>& s, BottomRow* bottom, const LaneIndices& lane) {
  const std::uint32_t word = bottom_row_word(s, lane);
  if (lane.lane < kBottomRowWords) __stcg(reinterpret_cast<std::uint32_t*>(bottom) + lane.lane, word);
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
