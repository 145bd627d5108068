// Prediction and coding of 4:2:0 chroma on one warp, with the results of encoder/cpu/chroma_search_inl.h.
#pragma once

#include <cstdint>

#include "core/candidates.h"
#include "core/intra_pred.h"
#include "core/mode_trials.h"
#include "encoder/cuda/search/intra16x16.cuh"
#include "encoder/cuda/search/macroblock.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warp_block.cuh"
#include "encoder/cuda/search/warp_rate.cuh"
#include "encoder/cuda/search/warp_satd.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// The plane predictor of a lane's component: Cb in the lower half of the warp, Cr in the upper half.
template <bool kRd>
__device__ core::PlanePrediction measure_chroma_plane(const WarpState<kRd>& s, const LaneIndices& lane,
                                                      int slopes) {
  const int c = lane.half;
  core::PlanePrediction plane;
  plane.a = 16 * (s.left_chroma[c][4 + 7] + s.above_chroma[c][4 + 7]);
  plane.b = __shfl_sync(kWarp, slopes, 16 + 8 * c);
  plane.c = __shfl_sync(kWarp, slopes, 20 + 8 * c);
  return plane;
}

template <bool kRd>
__device__ int chroma_dc(const WarpState<kRd>& s, const MacroblockPosition& position, int c, int bx, int by) {
  const int above = sum4(*reinterpret_cast<const std::uint32_t*>(&s.above_chroma[c][4 + 4 * bx]));
  const int left = sum4(*reinterpret_cast<const std::uint32_t*>(&s.left_chroma[c][4 + 4 * by]));
  return core::intra_chroma_dc(bx, by, position.left, left, position.above, above, 8);
}

// Row t of block g of the prediction with `mode`, in the order of the Hadamard product: groups 0..3 hold Cb,
// groups 4..7 hold Cr.
template <bool kRd>
__device__ std::uint32_t chroma_row(const WarpState<kRd>& s, const LaneIndices& lane,
                                    const MacroblockPosition& position, const core::PlanePrediction& plane,
                                    int mode) {
  const int g = lane.lane >> 2, c = g >> 2, bx = g & 1, by = (g >> 1) & 1, y = 4 * by + (lane.lane & 3);
  switch (mode) {
    case core::kIntraChromaDc:
      return replicate(chroma_dc(s, position, c, bx, by));
    case core::kIntraChromaHorizontal:
      return replicate(s.left_chroma[c][4 + y]);
    case core::kIntraChromaVertical:
      return *reinterpret_cast<const std::uint32_t*>(&s.above_chroma[c][4 + 4 * bx]);
    default:
      return plane_row(plane, 4 * bx, y, 3);
  }
}

// The offset, in [2][8][8] samples, of the word that a lane holds in chroma_row.
__device__ inline int chroma_row_offset(const LaneIndices& lane) {
  const int g = lane.lane >> 2;
  return 64 * (g >> 2) + 8 * (4 * ((g >> 1) & 1) + (lane.lane & 3)) + 4 * (g & 1);
}

// The ranks of the four modes by SATD and mode bits, sorted and the same in all lanes.
template <bool kRd>
__device__ void rank_chroma(const WarpState<kRd>& s, const SearchConstants& constants,
                            const LaneIndices& lane, const HadamardMatrix& matrix,
                            const MacroblockPosition& position, const core::PlanePrediction& plane,
                            unsigned (&ranks)[core::kIntraChromaModes]) {
  const std::uint32_t source =
      *reinterpret_cast<const std::uint32_t*>(&s.chroma[0][0][0] + chroma_row_offset(lane));
  unsigned mine = core::kNoRank;
  for (int mode = 0; mode < core::kIntraChromaModes; ++mode) {
    const std::uint32_t row = chroma_row(s, lane, position, plane, mode);
    const int satd = warp_sum(satd_of_all(hadamard_differences(matrix, source, row)));
    const core::SatdRank rank = core::satd_rank<SearchRate>(satd, constants.chroma_satd_lambda,
                                                            constants.rate().chroma_mode_bits(mode), mode);
    const bool available = core::intra_chroma_mode_available(mode, position.left, position.above);
    if (lane.lane == mode && available) mine = rank;
  }
  for (int mode = 0; mode < core::kIntraChromaModes; ++mode) ranks[mode] = __shfl_sync(kWarp, mine, mode);
  core::sort_ranks(ranks);
}

// Transforms, quantises and reconstructs chroma from its prediction, as Intra16x16Coder does for luma.
template <bool kRd, bool kRdoq, class Quantiser, bool kInter = false>
struct ChromaCoder {
  static constexpr core::DeadZone kDcDeadZone = kInter ? core::kDeadZoneInterChroma : core::kDeadZoneChroma;
  WarpState<kRd>& s;
  const SearchConstants& constants;
  const LaneIndices& lane;
  WarpRate rate;
  const Quantiser& quantiser;
  const std::uint8_t* prediction;  // [2][8][8]
  std::int16_t (*levels)[16];      // [10]: DC of Cb and Cr, then AC by component and block
  std::uint8_t* counts;            // [10]
  // Where decisions count bits: a lane's share of the bits of both DC blocks and of all AC blocks.
  int dc_bits = 0;
  int ac_bits = 0;
  int magnitudes = 0;  // where SATD decides: a lane's share of the sum over the AC levels

  // Writes the levels, the counts and, to s.dc[4 * c + block], the DC coefficients for the reconstruction.
  __device__ void quantise() {
    core::LevelMasks masks;  // of AC block `lane`
#pragma unroll 1
    for (int pass = 0; pass < 4; ++pass) {
      const int i = 2 * pass + lane.half, c = i >> 2;
      const int x = 4 * (i & 1) + lane.x, y = 4 * ((i >> 1) & 1) + lane.y;
      const int coefficient = forward_transform(lane, s.chroma[c][y][x] - prediction[64 * c + 8 * y + x]);
      int level = 0;
      if (lane.position == 0) {
        s.dc[i] = coefficient;
        levels[2 + i][15] = 0;
      } else {
        level = signed_level(of_component(quantiser, c), coefficient);
        if constexpr (!kRd) magnitudes += abs(level);
        levels[2 + i][lane.coding - 1] = static_cast<std::int16_t>(level);
      }
      const unsigned nonzero = (__ballot_sync(kWarp, level != 0) >> (16 * lane.half)) & 0xffff;
      if (lane.position == 0) set_count(i, __popc(nonzero));
      if constexpr (kRd) {
        const int in_order = __shfl_sync(kWarp, level, 16 * lane.half + lane.raster_of_ac);
        vote_masks(lane, pass, lane.position < 15 ? in_order : 0, masks);
      }
    }
    __syncwarp();
    if (kRd && lane.lane < 8) {
      ac_bits =
          rate.block_bits(levels[2 + lane.lane], masks, core::BlockCategory::chroma_ac, context(lane.lane));
    }
    quantise_dc();
  }

  // The same with levels chosen by RDOQ: Cb on the lower half of the warp, Cr on the upper half.
  __device__ void quantise_by_rdoq() {
    const int c = lane.half;
    const auto& own = of_component(quantiser, c);
#pragma unroll 1
    for (int block = 0; block < 4; ++block) {
      const int i = 4 * c + block, x = 4 * (block & 1) + lane.x, y = 4 * (block >> 1) + lane.y;
      const int coefficient = forward_transform(lane, s.chroma[c][y][x] - prediction[64 * c + 8 * y + x]);
      if (lane.position == 0) s.dc[i] = coefficient;
      const int in_order = __shfl_sync(kWarp, coefficient * own.multiplier, 16 * c + lane.raster_of_ac);
      const RdoqLevel chosen =
          choose_level_by_rdoq(s.rd.chroma_variants, rate, lane, abs(in_order), in_order < 0,
                               core::BlockCategory::chroma_ac, own.shift, context(i), true);
      const unsigned nonzero = (__ballot_sync(kWarp, chosen.level != 0) >> (16 * c)) & 0xffff;
      levels[2 + i][lane.position] = static_cast<std::int16_t>(chosen.level);
      if (lane.position == 0) set_count(i, __popc(nonzero));
      ac_bits += chosen.share;
      __syncwarp();
    }
    const int value = scaled_dc(of_lane_dc(), constants.chroma, hadamard2x2(lane, s.dc[lane.lane & 7]));
    const int in_order = __shfl_sync(kWarp, value, 4 * c + (lane.position & 3));
    const RdoqLevel chosen = choose_level_by_rdoq(
        s.rd.chroma_variants, rate, lane, abs(in_order), in_order < 0, core::BlockCategory::chroma_dc,
        dc_shift(own, core::kChromaDcExtraShift), rate.chroma_dc_context(), true);
    // The levels move from lanes 0..3 and 16..19 to lanes 0..7.
    store_dc_levels(__shfl_sync(kWarp, chosen.level, 16 * ((lane.lane >> 2) & 1) + (lane.lane & 3)));
    dc_bits = chosen.share;
  }

  __device__ void quantise_dc() {
    const int value = hadamard2x2(lane, s.dc[lane.lane & 7]);
    const int level =
        signed_dc_level(of_lane_dc(), constants.chroma, kDcDeadZone, core::kChromaDcExtraShift, value);
    if constexpr (kRd) {
      const int in_order = __shfl_sync(kWarp, level, 4 * lane.half + (lane.position & 3));
      dc_bits = rate.share(lane, lane.position < 4 ? in_order : 0, core::BlockCategory::chroma_dc,
                           rate.chroma_dc_context());
    }
    store_dc_levels(level);
  }

  // Lane 4 * c + k passes level k of component c. Writes the DC coefficients to s.dc.
  __device__ void store_dc_levels(int level) {
    const int c = (lane.lane >> 2) & 1, k = lane.lane & 3;
    const unsigned nonzero = __ballot_sync(kWarp, level != 0);
    // The twelve levels that a DC block lacks are zero.
    if (lane.lane < 24) levels[lane.lane / 12][4 + lane.lane % 12] = 0;
    if (lane.lane < 8) levels[c][k] = static_cast<std::int16_t>(level);
    if (lane.lane < 2)
      counts[lane.lane] = static_cast<std::uint8_t>(__popc((nonzero >> (4 * lane.lane)) & 15));
    __syncwarp();
    const int back = hadamard2x2(lane, levels[c][k]);
    if (lane.lane < 8) {
      s.dc[lane.lane] = core::dequantise_chroma_dc(back, dc_quantiser(of_lane_dc(), constants.chroma));
    }
    __syncwarp();
  }

  // Reconstructs from the levels that CodedBlockPatternChroma `pattern` keeps. `out` [2][8][8] holds the
  // prediction and receives the reconstruction. `row` is this lane's chroma_row.
  __device__ void reconstruct(int pattern, std::uint32_t row, std::uint8_t* out) {
    if (pattern == 2) {
      reconstruct_with_ac(out);
      return;
    }
    if (pattern == 1) *reinterpret_cast<std::uint32_t*>(out + chroma_row_offset(lane)) = flat_row(row);
    __syncwarp();
  }

  // Returns a lane's share of the squared error. With a null `out` nothing else is computed.
  __device__ int reconstruct_with_ac(std::uint8_t* out) {
    int error = 0;
#pragma unroll 1
    for (int pass = 0; pass < 4; ++pass) {
      const int i = 2 * pass + lane.half, c = i >> 2;
      const int x = 4 * (i & 1) + lane.x, y = 4 * ((i >> 1) & 1) + lane.y;
      int coefficient = 0;
      if (lane.position == 0) {
        coefficient = s.dc[i];
      } else {
        coefficient = dequantised(of_component(quantiser, c), levels[2 + i][lane.coding - 1]);
      }
      const int residual = inverse_transform(lane, coefficient);
      const int value = core::clip_sample(prediction[64 * c + 8 * y + x] + residual, 8);
      if (out != nullptr) out[64 * c + 8 * y + x] = static_cast<std::uint8_t>(value);
      error += (s.chroma[c][y][x] - value) * (s.chroma[c][y][x] - value);
    }
    __syncwarp();
    return error;
  }

  // A lane's share of the squared error without AC levels.
  __device__ int flat_error(bool with_dc, std::uint32_t row) const {
    const std::uint32_t source =
        *reinterpret_cast<const std::uint32_t*>(&s.chroma[0][0][0] + chroma_row_offset(lane));
    return squared_error4(source, with_dc ? flat_row(row) : row);
  }

  // The CodedBlockPatternChroma that the levels need; where SATD decides, AC levels that are not worth coding
  // do not count.
  __device__ int pattern() const {
    const unsigned coded =
        __ballot_sync(kWarp, lane.lane < 10 && counts[lane.lane < 10 ? lane.lane : 0] != 0);
    const bool ac =
        kRd ? (coded & 0x3fc) != 0 : core::ac_is_worth_coding(warp_sum(magnitudes), core::kTooFewChromaAc);
    return core::chroma_pattern((coded & 3) != 0, ac);
  }

 private:
  // The quantiser of the component whose DC coefficient the lane has, four lanes to a component.
  __device__ decltype(auto) of_lane_dc() const {
    return of_component(quantiser, (lane.lane >> 2) & 1);
  }
  // Without AC levels the residual of every block is a constant.
  __device__ std::uint32_t flat_row(std::uint32_t row) const {
    return add_to_samples(row, (s.dc[lane.lane >> 2] + 32) >> 6);
  }
  __device__ int context(int i) const {
    const int c = i >> 2, bx = i & 1, by = (i >> 1) & 1;
    return s.chroma_counts[c].context(rate, bx, by);
  }
  __device__ void set_count(int i, int count) {
    counts[2 + i] = static_cast<std::uint8_t>(count);
    s.chroma_counts[i >> 2].at(i & 1, (i >> 1) & 1) = static_cast<std::int8_t>(count);
  }
};

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
