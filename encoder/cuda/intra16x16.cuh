// Intra_16x16 on one warp. Decides and codes as encoder/cpu/intra16x16_search_inl.h does.
#pragma once

#include <cstdint>

#include "core/cavlc_block.h"
#include "core/intra_pred.h"
#include "core/mb_syntax.h"
#include "encoder/cuda/block_steps.cuh"
#include "encoder/cuda/macroblock.cuh"
#include "encoder/cuda/warp_block.cuh"
#include "encoder/cuda/warp_satd.cuh"

namespace cu264::encoder::cuda {

// What the predictors need besides the neighbours themselves, the same in all lanes.
struct Intra16x16Neighbours {
  int dc;
  core::PlanePrediction plane;
};

template <bool kRd>
__device__ Intra16x16Neighbours measure_luma_neighbours(WarpState<kRd>& s, const Place& place,
                                                        const LanePlace& lane) {
  const int i = lane.position;
  const int above = *s.canvas.at(i, -1), left = s.left_luma[4 + i];
  const int sums = warp_sum(lane.half == 0 ? above | (left << 16) : 0);
  Intra16x16Neighbours n;
  n.dc = core::intra16x16_dc(place.left, sums >> 16, place.above, sums & 0xffff, 8);
  n.plane = core::intra16x16_plane(s.canvas.at(0, -1), s.left_luma + 4);
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
__device__ void predict_intra16x16(const WarpState<kRd>& s, const LanePlace& lane,
                                   const Intra16x16Neighbours& n, int mode, std::uint8_t* out, int pitch) {
  __syncwarp();  // an abandoned search may still be reading where this writes
  for (int i = lane.lane; i < 64; i += 32) {
    const int x = 4 * (i & 3), y = i >> 2;
    *reinterpret_cast<std::uint32_t*>(out + y * pitch + x) = intra16x16_row(s, n, mode, x, y);
  }
  __syncwarp();
}

__device__ inline int intra16x16_header_bits(int mode, int luma_pattern, int chroma_pattern) {
  core::MacroblockRecord record;
  record.kind = core::MacroblockKind::intra16x16;
  record.intra16x16_pred_mode = static_cast<std::uint8_t>(mode);
  record.coded_block_pattern = static_cast<std::uint8_t>(luma_pattern | (chroma_pattern << 4));
  return core::mb_type_and_pattern_bits(record);
}

// Ranks of the four modes by SATD and mode bits, the same in all lanes; kNoRank for what is not available.
// Also leaves the SATD of the source's AC and its DC behind, by block, for Intra_4x4's DC mode.
template <bool kRd>
__device__ void rank_intra16x16(WarpState<kRd>& s, const SearchConstants& constants, const LanePlace& lane,
                                const HadamardMatrix& matrix, const Place& place,
                                const Intra16x16Neighbours& n, int chroma_pattern,
                                unsigned (&ranks)[core::kIntra16x16Modes]) {
  const int g = lane.lane >> 2, t = lane.lane & 3;
  int satd[core::kIntra16x16Modes] = {};
  for (int half = 0; half < 2; ++half) {
    const int x = 4 * (g & 3), y = 4 * (2 * half + (g >> 2)) + t;
    const std::uint32_t source = *reinterpret_cast<const std::uint32_t*>(&s.luma[y][x]);
    for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) {
      satd[mode] += satd_of_all(hadamard_differences(matrix, source, intra16x16_row(s, n, mode, x, y)));
    }
    const HadamardRows plain = hadamard_differences(matrix, source, 0);
    const std::uint32_t sums = satd_by_column(plain);
    if (g == 0) {  // row 0 of the product: the sums of samples
      s.source_dc[8 * half + 2 * t] = static_cast<std::int16_t>(plain.upper_even);
      s.source_dc[8 * half + 2 * t + 1] = static_cast<std::int16_t>(plain.upper_odd);
      s.source_ac[8 * half + 2 * t] =
          static_cast<std::int16_t>(static_cast<int>(sums & 0xffff) - plain.upper_even);
      s.source_ac[8 * half + 2 * t + 1] =
          static_cast<std::int16_t>(static_cast<int>(sums >> 16) - plain.upper_odd);
    }
  }
  for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) {
    const int cost =
        warp_sum(satd[mode]) + constants.satd_lambda * intra16x16_header_bits(mode, 0, chroma_pattern);
    const bool available = core::intra16x16_mode_available(mode, place.left, place.above);
    ranks[mode] = available ? static_cast<unsigned>(cost * 16 + mode) : 0xffffffffu;
  }
}

// Transforms, quantises and reconstructs luma from its prediction.
template <bool kRd>
struct Intra16x16Coder {
  WarpState<kRd>& s;
  const SearchConstants& constants;
  const LanePlace& lane;
  const LaneQuantiser& quantiser;
  const std::uint8_t* prediction;  // sixteen rows of sixteen samples
  int pitch;
  std::int16_t (*levels)[16];  // [17]: DC, then AC by block
  std::uint8_t* counts;        // [17]

  // Leaves levels, counts and, in s.dc, the DC coefficients to reconstruct with.
  __device__ void quantise() {
    for (int pass = 0; pass < 8; ++pass) {
      const int block = 2 * pass + lane.half, bx = core::luma_block_x(block), by = core::luma_block_y(block);
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      const int coefficient = forward_transform(lane, s.luma[y][x] - prediction[y * pitch + x]);
      int level = 0;
      if (lane.position == 0) {
        s.dc[4 * by + bx] = coefficient;
        levels[1 + block][15] = 0;
      } else {
        level = signed_level(coefficient, quantiser.multiplier, quantiser.shift, quantiser.rounding);
        levels[1 + block][lane.coding - 1] = static_cast<std::int16_t>(level);
      }
      const unsigned nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
      if (lane.position == 0) set_count(block, __popc(nonzero));
    }
    __syncwarp();
    quantise_dc();
  }

  // The same with levels by RDOQ. A block's context is what its neighbours to the left and above were left
  // with, so blocks go in the steps of Intra_4x4.
  __device__ void quantise_by_rdoq() {
    const int coefficient_lane = 16 * lane.half + core::zigzag_to_raster(min(lane.position + 1, 15));
#pragma unroll 1
    for (int step = 0; step < kIntra4x4Steps; ++step) {
      const int first = block_of_step(kFirstOfStep, step), second = block_of_step(kSecondOfStep, step);
      const int block = lane.half == 0 ? first : second, bx = core::luma_block_x(block),
                by = core::luma_block_y(block);
      const bool active = lane.half == 0 || first != second;
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      const int coefficient = forward_transform(lane, s.luma[y][x] - prediction[y * pitch + x]);
      if (lane.position == 0) s.dc[4 * by + bx] = coefficient;
      const int in_order = __shfl_sync(kWarp, coefficient * quantiser.multiplier, coefficient_lane);
      const int level = choose_level_by_rdoq(s.rd.variants, lane, abs(in_order), in_order < 0, 15,
                                             quantiser.shift, nc(bx, by), active);
      const unsigned nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
      if (active) {
        levels[1 + block][lane.position] = static_cast<std::int16_t>(level);
        if (lane.position == 0) set_count(block, __popc(nonzero));
      }
      __syncwarp();
    }
    const int value = hadamard(lane, s.dc[lane.position]) * constants.luma.multiplier[0];
    const int in_order = __shfl_sync(kWarp, value, lane.raster);
    const int level =
        choose_level_by_rdoq(s.rd.variants, lane, abs(in_order), in_order < 0, 16,
                             quantiser.shift + core::kLumaDcExtraShift, nc(0, 0), lane.half == 0);
    store_dc_levels(lane.position, level);
  }

  __device__ void quantise_dc() {
    const int shift = quantiser.shift + core::kLumaDcExtraShift;
    const int value = hadamard(lane, s.dc[lane.position]);
    store_dc_levels(lane.coding, signed_level(value, constants.luma.multiplier[0], shift,
                                              core::dead_zone_rounding(shift, kDeadZoneLuma)));
  }

  // `level` belongs at `position` of the DC block; the lower half's count. Leaves the DC coefficients in
  // s.dc.
  __device__ void store_dc_levels(int position, int level) {
    const unsigned nonzero = __ballot_sync(kWarp, level != 0) & 0xffff;
    if (lane.half == 0) levels[0][position] = static_cast<std::int16_t>(level);
    if (lane.lane == 0) counts[0] = static_cast<std::uint8_t>(__popc(nonzero));
    __syncwarp();
    const int back = hadamard(lane, levels[0][lane.coding]);
    if (lane.half == 0) s.dc[lane.position] = core::dequantise_luma_dc(back, constants.luma);
    __syncwarp();
  }

  // Returns the squared error. `out` may be the prediction itself.
  __device__ int reconstruct(bool with_ac, std::uint8_t* out, int out_pitch) {
    int error = 0;
    for (int pass = 0; pass < 8; ++pass) {
      const int block = 2 * pass + lane.half, bx = core::luma_block_x(block), by = core::luma_block_y(block);
      const int x = 4 * bx + lane.x, y = 4 * by + lane.y;
      int coefficient = 0;
      if (lane.position == 0) {
        coefficient = s.dc[4 * by + bx];
      } else if (with_ac) {
        coefficient = levels[1 + block][lane.coding - 1] * quantiser.dequant;
      }
      const int residual = inverse_transform(lane, coefficient);
      const int sample = core::clip_sample(prediction[y * pitch + x] + residual, 8);
      out[y * out_pitch + x] = static_cast<std::uint8_t>(sample);
      error += (s.luma[y][x] - sample) * (s.luma[y][x] - sample);
    }
    __syncwarp();
    return kRd ? warp_sum(error) : 0;
  }

  // Any AC level at all.
  __device__ bool has_ac() const {
    return __any_sync(kWarp, lane.lane < 16 && counts[1 + lane.position] != 0);
  }

  // Bits of the DC block and of all AC blocks together, a block a lane.
  __device__ void measure(int& dc_bits, int& ac_bits) {
    int bits = 0;
    if (lane.lane <= 16) {
      const bool is_dc = lane.lane == 16;
      const int bx = is_dc ? 0 : core::luma_block_x(lane.lane),
                by = is_dc ? 0 : core::luma_block_y(lane.lane);
      bits = core::cavlc_block_bits(levels[is_dc ? 0 : 1 + lane.lane], is_dc ? 16 : 15, nc(bx, by));
    }
    dc_bits = __shfl_sync(kWarp, bits, 16);
    ac_bits = warp_sum(bits) - dc_bits;
  }

 private:
  __device__ int nc(int bx, int by) const {
    return core::nc_from_neighbours(s.luma_counts[1 + by][bx], s.luma_counts[by][1 + bx]);
  }
  __device__ void set_count(int block, int count) {
    counts[1 + block] = static_cast<std::uint8_t>(count);
    s.luma_counts[1 + core::luma_block_y(block)][1 + core::luma_block_x(block)] =
        static_cast<std::int8_t>(count);
  }
};

}  // namespace cu264::encoder::cuda
