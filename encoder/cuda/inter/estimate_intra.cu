// A warp for each macroblock whose inter prediction is not good. The tensor cores give the SATD of the
// sixteen blocks with a mode of Intra_16x16, of the sixteen with the DC mode of Intra_4x4, and of a block
// with the other eight modes (encoder/cuda/search/warp_satd.cuh). All neighbours are samples of the source,
// so no block waits for another.
#include "encoder/cuda/inter/estimate_intra.h"

#include <cstddef>
#include <cstdint>

#include "common/cuda/error_check.h"
#include "common/cuda/warp.cuh"
#include "core/cabac_rate.h"
#include "core/cost.h"
#include "core/intra_pred.h"
#include "core/intra_trial.h"
#include "core/mb_qp_delta.h"
#include "core/qp_settings.h"
#include "core/rate_model.h"
#include "encoder/cuda/search/warp_satd.cuh"
#include "encoder/presets.h"

namespace cu264::encoder::cuda {
namespace {

constexpr int kWarps = 4;

// By QP. Headers are those of Intra_16x16 without AC levels and chroma.
struct IntraCosts {
  std::uint16_t satd_lambda[core::kQps];
  std::uint16_t header[core::kQps][core::kIntra16x16Modes];
};

// rate_of(qp) is the rate model.
template <class Rate, class RateOf>
IntraCosts intra_costs(const RateOf& rate_of) {
  IntraCosts costs;
  for (int qp = 0; qp < core::kQps; ++qp) {
    const int lambda = core::scaled_lambda(core::satd_lambda<Rate>(qp), core::kInterOfP.satd_lambda);
    const Rate rate = rate_of(qp);
    costs.satd_lambda[qp] = static_cast<std::uint16_t>(lambda);
    for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) {
      costs.header[qp][mode] = static_cast<std::uint16_t>(
          core::bits_cost<Rate, int>(rate.intra16x16_header_bits(mode, 0, 0), lambda));
    }
  }
  return costs;
}

IntraCosts intra_costs(bool by_cabac, bool transform_8x8_mode) {
  if (!by_cabac) {
    return intra_costs<core::CavlcRate>([&](int) { return core::CavlcRate{transform_8x8_mode}; });
  }
  static const core::CabacCostTable table = core::make_cabac_cost_table();
  return intra_costs<core::CabacRate>([&](int qp) {
    return core::CabacRate{transform_8x8_mode, &table.at[qp]};
  });
}

// A macroblock of the source with the row above, the column to the left and what is above and to the right.
struct SourceCanvas {
  static constexpr int kPitch = 32, kWords = 7;  // of a row
  alignas(4) std::uint8_t samples[17 * kPitch];

  __device__ const std::uint8_t* at(int x, int y) const { return samples + (y + 1) * kPitch + 4 + x; }
  __device__ std::uint32_t word(int x, int y) const {
    return *reinterpret_cast<const std::uint32_t*>(at(x, y));
  }
  __device__ void load(const DevicePlane& plane, int x, int y, int lane) {
    for (int i = lane; i < 17 * kWords; i += 32) {
      const int row = i / kWords, word = i % kWords;
      *reinterpret_cast<std::uint32_t*>(samples + row * kPitch + 4 * word) =
          *reinterpret_cast<const std::uint32_t*>(plane.at(x + 4 * word - 4, y + row - 1));
    }
  }
};

struct Workspace {
  SourceCanvas canvas;
  // By luma4x4BlkIdx; the pitch spreads the blocks over the banks.
  alignas(4) std::uint8_t values[16][52];
};

struct Neighbours {
  bool left, above, above_right;
};

__device__ std::uint32_t four(int a, int b, int c, int d) {
  return static_cast<std::uint32_t>(a | b << 8 | c << 16 | d << 24);
}
__device__ std::uint32_t four_times(int sample) {
  return static_cast<std::uint32_t>(sample) * 0x01010101u;
}

// What Intra_16x16 costs. `rows` are four samples in each lane of the blocks 0 to 7 and 8 to 15 in raster
// order, as the Hadamard product takes them, from column x of rows y and y + 8 on.
__device__ int intra16x16_cost(const SourceCanvas& canvas, const Neighbours& there,
                               const std::uint16_t* header, const HadamardMatrix& matrix,
                               const std::uint32_t (&rows)[2], int x, int y, int lane) {
  const int i = lane & 15, distance = 1 + (lane & 7);
  const int sums = warp_sum(lane < 16 ? *canvas.at(i, -1) | *canvas.at(-1, i) << 16 : 0);
  // The slope of the row above is in lane 0, that of the column to the left in lane 8.
  const auto side = [&](int at) -> int { return i < 8 ? *canvas.at(at, -1) : *canvas.at(-1, at); };
  int slope = distance * (side(7 + distance) - side(7 - distance));
  for (int step = 1; step < 8; step *= 2) slope += __shfl_xor_sync(kWarp, slope, step);
  slope = core::intra16x16_slope(slope);
  const core::PlanePrediction plane = {16 * (*canvas.at(-1, 15) + *canvas.at(15, -1)),
                                       __shfl_sync(kWarp, slope, 0), __shfl_sync(kWarp, slope, 8)};
  const int dc = core::intra16x16_dc(there.left, sums >> 16, there.above, sums & 0xffff, 8);
  const auto predicted = [&](int mode, int row) {
    const auto sample = [&](int column) { return core::plane_sample(plane, column, row, 7, 8); };
    switch (mode) {
      case core::kIntra16x16Vertical:
        return canvas.word(x, -1);
      case core::kIntra16x16Horizontal:
        return four_times(*canvas.at(-1, row));
      case core::kIntra16x16Dc:
        return four_times(dc);
      default:
        return four(sample(x), sample(x + 1), sample(x + 2), sample(x + 3));
    }
  };
  int least = INT32_MAX;
  for (int mode = 0; mode < core::kIntra16x16Modes; ++mode) {
    if (!core::intra16x16_mode_available(mode, there.left, there.above)) continue;
    const int satd = satd_of_all(hadamard_differences(matrix, rows[0], predicted(mode, y))) +
                     satd_of_all(hadamard_differences(matrix, rows[1], predicted(mode, y + 8)));
    least = min(least, warp_sum(satd) + header[mode]);
  }
  return least;
}

__device__ core::Intra4x4Neighbours neighbours_of(const Neighbours& there, int bx, int by) {
  const bool left = bx > 0 || there.left, above = by > 0 || there.above;
  return {left, above, left && above};
}

// The values that a block's predictions are taken from.
__device__ void make_values(const SourceCanvas& canvas, const Neighbours& there, int block,
                            std::uint8_t* to) {
  const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
  const bool above_right = core::intra4x4_above_right_available(block, there.above, there.above_right);
  const std::uint8_t* const first = canvas.at(4 * bx, 4 * by);
  std::uint8_t line[core::kIntra4x4LineLength + 1], values[core::kIntra4x4Values];
  for (int i = 0; i < 4; ++i) line[core::kIntra4x4LineLeft - i] = first[i * SourceCanvas::kPitch - 1];
  for (int i = -1; i < 8; ++i) {
    line[core::kIntra4x4LineTop + i] = first[(i < 4 || above_right ? i : 3) - SourceCanvas::kPitch];
  }
  line[0] = line[1];
  line[14] = line[15] = line[13];
  core::intra4x4_values(line, neighbours_of(there, bx, by), 8, values);
  for (int i = 0; i < core::kIntra4x4Values; ++i) to[i] = values[i];
}

// The modes of Intra_4x4 other than DC, in the columns of the Hadamard product.
__device__ int mode_of_column(int column) {
  return column + (column >= core::kIntra4x4Dc);
}

// What a lane does for every block: it predicts row t with the mode of its column, and judges two columns.
struct ModeLane {
  std::uint8_t sources[4];  // of the samples in its row
  unsigned allowed[2];  // by neighbours: bit 0 of the bit's index for the left one, bit 1 for the upper one

  __device__ explicit ModeLane(int lane) {
    const int t = lane & 3;
    for (int x = 0; x < 4; ++x)
      sources[x] = static_cast<std::uint8_t>(core::intra4x4_source(mode_of_column(lane >> 2), x, t));
    for (int odd = 0; odd < 2; ++odd) {
      allowed[odd] = 0;
      for (int there = 0; there < 4; ++there) {
        const core::Intra4x4Neighbours available = {(there & 1) != 0, (there & 2) != 0, there == 3};
        if (core::intra4x4_mode_available(mode_of_column(2 * t + odd), available))
          allowed[odd] |= 1u << there;
      }
    }
  }
};

// What Intra_4x4 costs, or some cost of `most` or more. `rows` as for Intra_16x16.
__device__ int intra4x4_cost(Workspace& s, const Neighbours& there, int satd_lambda,
                             const HadamardMatrix& matrix, const std::uint32_t (&rows)[2], int most,
                             int lane) {
  if (lane < 16) make_values(s.canvas, there, lane, s.values[lane]);
  __syncwarp();
  const ModeLane mine(lane);
  const int g = lane >> 2, t = lane & 3;
  std::uint32_t flat[2];  // the SATD with the DC mode of blocks 2 * t and 2 * t + 1 of each half
  for (int half = 0; half < 2; ++half) {
    const int block = core::luma_block_index(g & 3, 2 * half + (g >> 2));
    flat[half] = satd_by_column(
        hadamard_differences(matrix, rows[half], four_times(s.values[block][core::kIntra4x4DcValue])));
  }
  int cost = 0;
#pragma unroll 1
  for (int block = 0; block < 16 && cost < most; ++block) {
    const int bx = core::luma_block_x(block), by = core::luma_block_y(block);
    const std::uint8_t* const values = s.values[block];
    const std::uint32_t row = four(values[mine.sources[0]], values[mine.sources[1]], values[mine.sources[2]],
                                   values[mine.sources[3]]);
    const std::uint32_t satd =
        satd_by_column(hadamard_differences(matrix, s.canvas.word(4 * bx, 4 * by + t), row));
    const core::Intra4x4Neighbours available = neighbours_of(there, bx, by);
    const int which = (available.left ? 1 : 0) | (available.above ? 2 : 0);
    unsigned least =
        __shfl_sync(kWarp, by < 2 ? flat[0] : flat[1], 2 * (by & 1) + (bx >> 1)) >> (16 * (bx & 1)) & 0xffff;
    if ((mine.allowed[0] >> which & 1) != 0) least = min(least, satd & 0xffff);
    if ((mine.allowed[1] >> which & 1) != 0) least = min(least, satd >> 16);
    least = min(least, __shfl_xor_sync(kWarp, least, 1));
    least = min(least, __shfl_xor_sync(kWarp, least, 2));
    cost += static_cast<int>(least) + core::kDefaultModeBits * satd_lambda;
  }
  return cost;
}

__global__ void __launch_bounds__(32 * kWarps)
    estimate_intra_kernel(const __grid_constant__ StepView step, const __grid_constant__ IntraCosts costs,
                          bool by_rd) {
  __shared__ Workspace s_workspaces[kWarps];
  Workspace& s = s_workspaces[threadIdx.x >> 5];
  const BatchView& batch = step.batch;
  const int lane = static_cast<int>(threadIdx.x) & 31, picture = static_cast<int>(blockIdx.y);
  const int mb = static_cast<int>(blockIdx.x * kWarps + (threadIdx.x >> 5)),
            mbs = batch.macroblocks_per_picture();
  if (mb >= mbs) return;
  const int mb_x = mb % batch.mb_width, mb_y = mb / batch.mb_width;
  const int offset =
      batch.qp_offsets == nullptr ? 0 : batch.qp_offsets[static_cast<std::size_t>(picture) * mbs + mb];
  const int qp = core::macroblock_qp(batch.params[picture].qp, offset), satd_lambda = costs.satd_lambda[qp];
  const ChainView& chain = step.chains[picture];
  InterChoice& choice = chain.choices[mb];
  const int inter = choice.satd_cost(satd_lambda);
  bool likely = false;
  if (!core::inter_is_good(inter, satd_lambda)) {
    const int slice = core::slice_of_row(mb_y, batch.slices, batch.mb_height);
    const bool above = mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
    const Neighbours there = {mb_x > 0, above, above && mb_x + 1 < batch.mb_width};
    s.canvas.load(chain.source[0], 16 * mb_x, 16 * mb_y, lane);
    __syncwarp();
    const HadamardMatrix matrix(lane);
    const int x = 4 * (lane >> 2 & 3), y = 4 * (lane >> 4) + (lane & 3);
    const std::uint32_t rows[2] = {s.canvas.word(x, y), s.canvas.word(x, y + 8)};
    const int whole = intra16x16_cost(s.canvas, there, costs.header[qp], matrix, rows, x, y, lane);
    const int blocks = intra4x4_cost(s, there, satd_lambda, matrix, rows, whole, lane);
    likely = core::intra_is_likely(min(whole, blocks), inter, satd_lambda, by_rd);
  }
  if (lane == 0) choice.intra_is_likely = likely;
}

}  // namespace

void launch_estimate_intra(const StepView& step, Preset preset, cudaStream_t stream) {
  const BatchView& batch = step.batch;
  const SearchParams search = search_params(preset, batch.transform_8x8_mode);
  const IntraCosts costs = intra_costs(counts_cabac(search, batch.cabac, true), batch.transform_8x8_mode);
  const dim3 grid(static_cast<unsigned>((batch.macroblocks_per_picture() + kWarps - 1) / kWarps),
                  static_cast<unsigned>(batch.pictures));
  estimate_intra_kernel<<<grid, 32 * kWarps, 0, stream>>>(step, costs, search.rd_candidates > 0);
  check_launch("estimate_intra_kernel");
}

}  // namespace cu264::encoder::cuda
