// Prediction and coding of Intra_16x16 on one warp, with the results of encoder/cpu/intra16x16_search_inl.h.
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/intra_pred.h"
#include "core/mode_trials.h"
#include "encoder/cuda/search/block_steps.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"
#include "encoder/cuda/search/warp_satd.cuh"
#include "encoder/cuda/search/warp_satd8x8.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// The predictors need this besides the neighbouring samples. It is the same in all lanes.
struct Intra16x16Neighbours {
  int dc;
  core::PlanePrediction plane;
};

// The slopes of all plane predictors at once. A side takes eight lanes of luma or four lanes of chroma: the
// luma slopes of the row above and of the left column are in lanes 0 and 8, those of Cb in 16 and 20, those
// of Cr in 24 and 28.
template <bool kRd>
__device__ int plane_slopes(WarpState<kRd>& s, const LaneIndices& lane) {
  const int i = lane.lane, c = (i >> 3) & 1;
  const bool luma = i < 16;
  const std::uint8_t* const line = luma    ? (i < 8 ? s.canvas.at(7, -1) : s.left_luma + 4 + 7)
                                   : i & 4 ? &s.left_chroma[c][4 + 3]
                                           : &s.above_chroma[c][4 + 3];
  const int distance = 1 + (luma ? i & 7 : i & 3);
  int sum = distance * (line[distance] - line[-distance]);
  sum += __shfl_xor_sync(kWarp, sum, 1);
  sum += __shfl_xor_sync(kWarp, sum, 2);
  const int of_eight = sum + __shfl_xor_sync(kWarp, sum, 4);
  return luma ? core::intra16x16_slope(of_eight) : core::intra_chroma_slope(sum);
}

template <bool kRd>
__device__ Intra16x16Neighbours measure_luma_neighbours(WarpState<kRd>& s, const MacroblockPosition& position,
                                                        const LaneIndices& lane, int slopes) {
  const int i = lane.position;
  const int above = *s.canvas.at(i, -1), left = s.left_luma[4 + i];
  const int sums = warp_sum(lane.half == 0 ? above | (left << 16) : 0);
  Intra16x16Neighbours n;
  n.dc = core::intra16x16_dc(position.left, sums >> 16, position.above, sums & 0xffff, 8);
  n.plane.a = 16 * (s.left_luma[4 + 15] + *s.canvas.at(15, -1));
  n.plane.b = __shfl_sync(kWarp, slopes, 0);
  n.plane.c = __shfl_sync(kWarp, slopes, 8);
  return n;
}

__device__ inline std::uint32_t plane_row(const core::PlanePrediction& plane, int x, int y, int centre) {
  return pack4(core::plane_sample(plane, x, y, centre, 8), core::plane_sample(plane, x + 1, y, centre, 8),
               core::plane_sample(plane, x + 2, y, centre, 8),
               core::plane_sample(plane, x + 3, y, centre, 8));
}

// Four samples of the prediction with `mode`, from column x of row y on.
template <bool kRd>
__device__ std::uint32_t intra16x16_row(const WarpState<kRd>& s, const Intra16x16Neighbours& n, int mode,
                                        int x, int y) {
  switch (mode) {
    case core::kIntra16x16Vertical:
      return s.canvas.word(x, -1);
    case core::kIntra16x16Horizontal:
      return replicate(s.left_luma[4 + y]);
    case core::kIntra16x16Dc:
      return replicate(n.dc);
    default:
      return plane_row(n.plane, x, y, 7);
  }
}

// Writes the prediction with `mode`.
template <bool kRd>
__device__ void predict_intra16x16(const WarpState<kRd>& s, const LaneIndices& lane,
                                   const Intra16x16Neighbours& n, int mode, std::uint8_t* out, int pitch) {
  __syncwarp();  // an abandoned search may still be reading where this writes
  for (int i = lane.lane; i < 64; i += 32) {
    const int x = 4 * (i & 3), y = i >> 2;
    *reinterpret_cast<std::uint32_t*>(out + y * pitch + x) = intra16x16_row(s, n, mode, x, y);
  }
  __syncwarp();
}

// The SATD of each source block without its DC coefficient, and that coefficient, for the DC mode of
// Intra_4x4. Lane t of the first four has those of blocks 8 * half + 2 * t and, in the high halves, the next.
struct SourceMeasure {
  std::uint32_t dc[2];
  std::uint32_t ac[2];
};

// The same for the 8x8 blocks, and the activity of the macroblock, in streams with Intra_8x8. Lanes 0 and 1
// have those of the left and of the right blocks, those of the upper one in the low half.
struct SourceMeasure8x8 {
  std::uint32_t samples;  // their sum
  std::uint32_t satd;     // with the DC coefficient
  core::SourceActivity activity;
};
struct NoSourceMeasure8x8 {};

template <bool kIntra8x8>
struct SourceMeasures {
  SourceMeasure of4x4;
  std::conditional_t<kIntra8x8, SourceMeasure8x8, NoSourceMeasure8x8> of8x8;
};

// Lane 4 * g + t passes row t of the blocks g and 8 + g.
template <bool kIntra8x8>
__device__ inline SourceMeasures<kIntra8x8> measure_source(const HadamardMatrix& matrix,
                                                           const std::uint32_t (&rows)[2]) {
  SourceMeasures<kIntra8x8> measures;
  SourceMeasure& measure = measures.of4x4;
  std::uint32_t satd8x8 = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const HadamardRows plain = hadamard_differences(matrix, rows[half], 0);
    const std::uint32_t sums = satd_by_column(plain);
    // Row 0 of the product holds the sums of samples, which are not negative and at most the SATD.
    measure.dc[half] = static_cast<std::uint32_t>(plain.upper_even | plain.upper_odd << 16);
    measure.ac[half] = sums - measure.dc[half];
    if constexpr (kIntra8x8) satd8x8 |= partial_satd8x8<2>(plain) << (16 * half);
  }
  if constexpr (kIntra8x8) {
    const auto both = [](std::uint32_t pair) { return (pair & 0xffff) + (pair >> 16); };
    const auto add = [](std::uint32_t value, int step) {
      return value + __shfl_xor_sync(kWarp, value, step);
    };
    SourceMeasure8x8& of8x8 = measures.of8x8;
    of8x8.satd = add(add(add(satd8x8, 4), 8), 16);
    of8x8.samples = add(both(measure.dc[0]) | both(measure.dc[1]) << 16, 2);
    const int samples = static_cast<int>(add(both(of8x8.samples), 1));
    of8x8.activity.by4x4 = static_cast<int>(2 * add(add(both(measure.ac[0]) + both(measure.ac[1]), 1), 2));
    of8x8.activity.by8x8 = static_cast<int>(2 * add(both(of8x8.satd), 1)) - samples;
  }
  return measures;
}

template <bool kIntra8x8, bool kRd>
__device__ void put_measure(WarpState<kRd>& s, const LaneIndices& lane,
                            const SourceMeasures<kIntra8x8>& measures) {
  if (lane.lane >= 4) return;
  for (int half = 0; half < 2; ++half) {
    reinterpret_cast<std::uint32_t*>(s.source_dc)[4 * half + lane.lane] = measures.of4x4.dc[half];
    reinterpret_cast<std::uint32_t*>(s.source_ac)[4 * half + lane.lane] = measures.of4x4.ac[half];
  }
  if constexpr (kIntra8x8) {
    const SourceMeasure8x8& of8x8 = measures.of8x8;
    if (lane.lane == 0) s.activity = of8x8.activity;
    if (lane.lane >= 2) return;
    for (int half = 0; half < 2; ++half) {
      s.samples8x8[2 * half + lane.lane] = static_cast<std::uint16_t>(of8x8.samples >> (16 * half));
      s.satd8x8[2 * half + lane.lane] = static_cast<std::uint16_t>(of8x8.satd >> (16 * half));
    }
  }
}

// The same for the source in the warp's state.
template <bool kIntra8x8, bool kRd>
__device__ void measure_source(WarpState<kRd>& s, const LaneIndices& lane, const HadamardMatrix& matrix) {
  const int g = lane.lane >> 2, t = lane.lane & 3, x = 4 * (g & 3), y = 4 * (g >> 2) + t;
  put_measure(
      s, lane,
      measure_source<kIntra8x8>(matrix, {*reinterpret_cast<const std::uint32_t*>(&s.luma[y][x]),
                                         *reinterpret_cast<const std::uint32_t*>(&s.luma[8 + y][x])}));
}

// The same for a source that is still in the lanes' registers.
template <bool kIntra8x8>
__device__ inline SourceMeasures<kIntra8x8> measure_source(const LaneIndices& lane,
                                                           const HadamardMatrix& matrix,
                                                           const SourceWords& source) {
  const int g = lane.lane >> 2, t = lane.lane & 3, first = 8 * (g >> 2) + 2 * t + ((g & 3) >> 1);
  std::uint32_t rows[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t even = __shfl_sync(kWarp, source.luma.x, first + 16 * half),
                        odd = __shfl_sync(kWarp, source.luma.y, first + 16 * half);
    rows[half] = g & 1 ? odd : even;
  }
  return measure_source<kIntra8x8>(matrix, rows);
}

// Returns the SATD of mode k in lane k.
template <bool kRd>
__device__ int measure_intra16x16(const WarpState<kRd>& s, const LaneIndices& lane,
                                  const HadamardMatrix& matrix, const Intra16x16Neighbours& n) {
  const int g = lane.lane >> 2, t = lane.lane & 3, x = 4 * (g & 3), y = 4 * (g >> 2) + t;
  const std::uint32_t source[2] = {*reinterpret_cast<const std::uint32_t*>(&s.luma[y][x]),
                                   *reinterpret_cast<const std::uint32_t*>(&s.luma[8 + y][x])};
  int mine = 0;
  for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) {
    int satd = 0;
    for (int half = 0; half < 2; ++half) {
      satd += satd_of_all(
          hadamard_differences(matrix, source[half], intra16x16_row(s, n, mode, x, y + 8 * half)));
    }
    const int total = warp_sum(satd);
    if (lane.lane == mode) mine = total;
  }
  return mine;
}

// Returns the rank of mode k by SATD and mode bits in lane k; core::kNoRank if the mode is not available.
__device__ inline unsigned rank_intra16x16(const SearchConstants& constants, const LaneIndices& lane,
                                           const MacroblockPosition& position, int satd, int chroma_pattern) {
  const int mode = lane.lane & 3;
  const int bits = constants.rate().intra16x16_header_bits(mode, 0, chroma_pattern);
  const bool available = lane.lane < core::kIntra16x16Modes &&
                         core::intra16x16_mode_available(mode, position.left, position.above);
  return available ? core::satd_rank<SearchRate>(satd, constants.satd_lambda, bits, mode) : core::kNoRank;
}

// Transforms, quantises and reconstructs luma from its prediction, two blocks a pass. The passes are not
// unrolled, because unrolling was no faster.
template <bool kRd, bool kRdoq, class Quantiser>
struct Intra16x16Coder {
  WarpState<kRd>& s;
  const SearchConstants& constants;
  const LaneIndices& lane;
  WarpRate rate;
  const Quantiser& quantiser;
  const std::uint8_t* prediction;  // sixteen rows of sixteen samples
  int pitch;
  std::int16_t (*levels)[16];  // [17]: DC, then AC by block
  std::uint8_t* counts;        // [17]
  // Where decisions count bits: a lane's share of the bits of the DC block and of all AC blocks.
  int dc_bits = 0;
  int ac_bits = 0;
  int magnitudes = 0;  // where SATD decides: a lane's share of the sum over the AC levels

  // Writes the levels, the counts and, to s.dc, the DC coefficients for the reconstruction.
  __device__ void quantise() {
    core::LevelMasks masks;  // of AC block `lane`
#pragma unroll 1
    for (int pass = 0; pass < 8; ++pass) {
      const int block = 2 * pass + lane.half, bx = core::luma_block_x(block), by = core::luma_block_y(block);
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      const int coefficient = forward_transform(lane, s.luma[y][x] - prediction[y * pitch + x]);
      int level = 0;
      if (lane.position == 0) {
        s.dc[4 * by + bx] = coefficient;
        levels[1 + block][15] = 0;
      } else {
        level = signed_level(quantiser, coefficient);
        if constexpr (!kRd) magnitudes += abs(level);
        levels[1 + block][lane.coding - 1] = static_cast<std::int16_t>(level);
      }
      const unsigned nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
      if (lane.position == 0) set_count(block, __popc(nonzero));
      if constexpr (kRd) {
        const int in_order = __shfl_sync(kWarp, level, 16 * lane.half + lane.raster_of_ac);
        vote_masks(lane, pass, lane.position < 15 ? in_order : 0, masks);
      }
    }
    __syncwarp();
    if (kRd && lane.lane < 16) {
      const int bx = core::luma_block_x(lane.lane), by = core::luma_block_y(lane.lane);
      ac_bits = rate.block_bits(levels[1 + lane.lane], masks, core::BlockCategory::luma_ac, context(bx, by));
    }
    quantise_dc();
  }

  // The same with levels chosen by RDOQ. The context of a block depends on the final counts of its left and
  // upper neighbours, so blocks are taken in the steps of Intra_4x4.
  __device__ void quantise_by_rdoq() {
#pragma unroll 1
    for (int step = 0; step < kIntra4x4Steps; ++step) {
      const StepBlock own = lane.half == 0 ? first_of_step(step) : second_of_step(step);
      const int block = own.block(), bx = core::luma_block_x(block), by = core::luma_block_y(block);
      const bool active = !own.idle();
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      const int coefficient = forward_transform(lane, s.luma[y][x] - prediction[y * pitch + x]);
      if (lane.position == 0) s.dc[4 * by + bx] = coefficient;
      const int in_order =
          __shfl_sync(kWarp, coefficient * quantiser.multiplier, 16 * lane.half + lane.raster_of_ac);
      const RdoqLevel chosen =
          choose_level_by_rdoq(s.rd.variants, rate, lane, abs(in_order), in_order < 0,
                               core::BlockCategory::luma_ac, quantiser.shift, context(bx, by), active);
      const unsigned nonzero = (__ballot_sync(kWarp, chosen.level != 0) >> (16 * lane.half)) & 0xffff;
      if (active) {
        ac_bits += chosen.share;
        levels[1 + block][lane.position] = static_cast<std::int16_t>(chosen.level);
        if (lane.position == 0) set_count(block, __popc(nonzero));
      }
      __syncwarp();
    }
    const int value = scaled_dc(quantiser, constants.luma, hadamard(lane, s.dc[lane.position]));
    const int in_order = __shfl_sync(kWarp, value, lane.raster);
    const RdoqLevel chosen = choose_level_by_rdoq(
        s.rd.variants, rate, lane, abs(in_order), in_order < 0, core::BlockCategory::luma_dc,
        dc_shift(quantiser, core::kLumaDcExtraShift), context(0, 0), lane.half == 0);
    dc_bits = lane.half == 0 ? chosen.share : 0;
    store_dc_levels(lane.position, chosen.level);
  }

  __device__ void quantise_dc() {
    const int value = hadamard(lane, s.dc[lane.position]);
    store_dc_levels(lane.coding, signed_dc_level(quantiser, constants.luma, core::kDeadZoneLuma,
                                                 core::kLumaDcExtraShift, value));
    if constexpr (kRd) {
      const int share =
          rate.share(lane, levels[0][lane.position], core::BlockCategory::luma_dc, context(0, 0));
      dc_bits = lane.half == 0 ? share : 0;
    }
  }

  // Stores `level` at `position` of the DC block, from the lanes of the lower half. Writes the DC
  // coefficients to s.dc.
  __device__ void store_dc_levels(int position, int level) {
    const unsigned nonzero = __ballot_sync(kWarp, level != 0) & 0xffff;
    if (lane.half == 0) levels[0][position] = static_cast<std::int16_t>(level);
    if (lane.lane == 0) counts[0] = static_cast<std::uint8_t>(__popc(nonzero));
    __syncwarp();
    const int back = hadamard(lane, levels[0][lane.coding]);
    if (lane.half == 0)
      s.dc[lane.position] = core::dequantise_luma_dc(back, dc_quantiser(quantiser, constants.luma));
    __syncwarp();
  }

  // Writes the reconstruction to `out`, which may be the prediction. Without AC levels the residual of every
  // block is a constant.
  __device__ void reconstruct(bool with_ac, std::uint8_t* out, int out_pitch) {
    if (with_ac) {
      reconstruct_with_ac(out, out_pitch);
      return;
    }
    for (int i = lane.lane; i < 64; i += 32) {
      const int x = 4 * (i & 3), y = i >> 2;
      *reinterpret_cast<std::uint32_t*>(out + y * out_pitch + x) = flat_row(x, y);
    }
    __syncwarp();
  }

  // Returns a lane's share of the squared error. With a null `out` nothing else is computed.
  __device__ int reconstruct_with_ac(std::uint8_t* out, int out_pitch) {
    int error = 0;
#pragma unroll 1
    for (int pass = 0; pass < 8; ++pass) {
      const int block = 2 * pass + lane.half, bx = core::luma_block_x(block), by = core::luma_block_y(block);
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      int coefficient = 0;
      if (lane.position == 0) {
        coefficient = s.dc[4 * by + bx];
      } else {
        coefficient = dequantised(quantiser, levels[1 + block][lane.coding - 1]);
      }
      const int residual = inverse_transform(lane, coefficient);
      const int sample = core::clip_sample(prediction[y * pitch + x] + residual, 8);
      if (out != nullptr) out[y * out_pitch + x] = static_cast<std::uint8_t>(sample);
      error += (s.luma[y][x] - sample) * (s.luma[y][x] - sample);
    }
    __syncwarp();
    return error;
  }

  // A lane's share of the squared error without AC levels.
  __device__ int flat_error() const {
    int error = 0;
    for (int i = lane.lane; i < 64; i += 32) {
      const int x = 4 * (i & 3), y = i >> 2;
      const std::uint32_t source = *reinterpret_cast<const std::uint32_t*>(&s.luma[y][x]);
      error += squared_error4(source, flat_row(x, y));
    }
    return error;
  }

  // Tells whether any AC level is not zero; where SATD decides, whether AC levels are worth coding.
  __device__ bool has_ac() const {
    if constexpr (!kRd) return core::ac_is_worth_coding(warp_sum(magnitudes), core::kTooFewLumaAc);
    return __any_sync(kWarp, lane.lane < 16 && counts[1 + lane.position] != 0);
  }

 private:
  // Four reconstructed samples from column x of row y on, without AC levels.
  __device__ std::uint32_t flat_row(int x, int y) const {
    const std::uint32_t row = *reinterpret_cast<const std::uint32_t*>(prediction + y * pitch + x);
    return add_to_samples(row, (s.dc[(y & ~3) + (x >> 2)] + 32) >> 6);
  }
  __device__ int context(int bx, int by) const {
    return s.luma_counts.context(rate, bx, by);
  }
  __device__ void set_count(int block, int count) {
    counts[1 + block] = static_cast<std::uint8_t>(count);
    s.luma_counts.at(core::luma_block_x(block), core::luma_block_y(block)) = static_cast<std::int8_t>(count);
  }
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
