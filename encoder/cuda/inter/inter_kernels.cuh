// The kernels of inter_stages.h. A source file for each rate model and for streams with and without the 8x8
// transform compiles them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "encoder/cuda/inter/inter_coding.cuh"
#include "encoder/cuda/inter/inter_launch.cuh"
#include "encoder/cuda/inter/picture_neighbours.cuh"
#include "encoder/cuda/search/constants_by_qp.cuh"
#include "encoder/cuda/search/warps_in_step.cuh"
#include "encoder/cuda/search/wavefront.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// Warps of a thread block.
inline constexpr int kInterWarps = 4, kIntraWarps = 4;

template <bool kRd, bool kTransform8x8>
struct InterMemory {
  RateTables rate_tables;
  Intra8x8Shared<kTransform8x8> intra8x8;
  struct Warp {
    WarpState<kRd> state;
    InterSpace<kTransform8x8> space;
  } warps[kInterWarps];
};

// A warp codes a macroblock. None depends on another.
template <bool kRd, bool kRdoq, bool kTransform8x8>
__global__ void __launch_bounds__(32 * kInterWarps)
    code_inter_kernel(const __grid_constant__ StepView step,
                      const __grid_constant__ ConstantsByQp<true> constants) {
  extern __shared__ __align__(16) std::uint8_t s_memory[];
  auto& memory = *reinterpret_cast<InterMemory<kRd, kTransform8x8>*>(s_memory);
  if constexpr (kRd) memory.rate_tables.fill();
  memory.intra8x8.fill();
  __syncthreads();
  const BatchView& batch = step.batch;
  const int warp = uniform(static_cast<int>(threadIdx.x >> 5));
  const unsigned number = blockIdx.x * kInterWarps + static_cast<unsigned>(warp);
  const unsigned mbs = static_cast<unsigned>(batch.macroblocks_per_picture());
  if (number >= mbs * static_cast<unsigned>(batch.pictures)) return;
  auto& [s, space] = memory.warps[warp];
  LaneConstants mine(static_cast<int>(threadIdx.x & 31), constants.initial(), memory.rate_tables,
                     FlatLists{});
  const LaneIndices& lane = mine.lane;
  s.counts[lane.lane] = 0;  // slots 27 to 31 stay zero

  MacroblockPosition position{};
  position.picture = static_cast<int>(number / mbs);
  const unsigned mb = number % mbs;
  position.mb_y = static_cast<int>(mb / static_cast<unsigned>(batch.mb_width));
  position.mb_x = static_cast<int>(mb % static_cast<unsigned>(batch.mb_width));
  const SearchConstants here = constants.of(batch, position, mine);
  mine.luma = LaneQuantiser(here.luma, lane.position, core::kDeadZoneInterLuma);
  mine.chroma = LaneQuantiser(here.chroma, lane.position, core::kDeadZoneInterChroma);

  const ChainView& chain = step.chains[position.picture];
  const core::MotionRecord motion = chain.fields[0][mb];
  InterChoice choice = chain.choices[mb];
  put_source(s, batch.format, lane, fetch_source(batch, position, lane));
  const PredictedSamples predicted =
      predict_macroblock(chain, 16 * position.mb_x, 16 * position.mb_y, lane.lane, motion);
  for (int i = 0; i < 2; ++i) {
    *reinterpret_cast<std::uint32_t*>(&space.luma[lane.lane >> 1][8 * (lane.lane & 1) + 4 * i]) =
        predicted.luma[i];
  }
  reinterpret_cast<std::uint32_t*>(space.chroma)[lane.lane] = predicted.chroma;
  __syncwarp();

  InterCoder<kRd, kRdoq, kTransform8x8> coder{s, space, memory.intra8x8, here, mine, lane};
  const MacroblockResult result = coder.code(choice);
  __syncwarp();
  store_macroblock(s, batch, position, lane, result.record);
  if (lane.lane == 0) {
    batch.motion[static_cast<std::size_t>(position.picture) * mbs + mb] = motion;
    if constexpr (kRd) chain.choices[mb].rd_cost = choice.rd_cost;
  }
}

template <bool kRd, bool kRdoq, bool kTransform8x8>
void launch_code(const InterLaunch& job) {
  const StepView& step = job.step;
  constexpr auto kernel = code_inter_kernel<kRd, kRdoq, kTransform8x8>;
  const ConstantsByQp<true> constants(job.search, kTransform8x8, 0, core::kInterOfP);
  const unsigned mbs = static_cast<unsigned>(step.batch.pictures) *
                       static_cast<unsigned>(step.batch.macroblocks_per_picture());
  allow_shared_memory(kernel);
  kernel<<<(mbs + kInterWarps - 1) / kInterWarps, 32 * kInterWarps, sizeof(InterMemory<kRd, kTransform8x8>),
           job.stream>>>(step, constants);
  check_launch("code_inter_kernel");
}

template <bool kTransform8x8>
void code_inter(const InterLaunch& job) {
#if !defined(CU264_COUNTS_CABAC)
  if (job.search.rd_candidates == 0) return launch_code<false, false, kTransform8x8>(job);
#endif
  job.search.rdoq ? launch_code<true, true, kTransform8x8>(job)
                  : launch_code<true, false, kTransform8x8>(job);
}

// The rows of a step that are searched for I macroblocks.
struct IntraRows {
  unsigned* progress;  // [picture][row]: macroblocks that are final
  unsigned* ticket;
};

template <bool kRd, bool kTransform8x8>
struct IntraMemory {
  RateTables rate_tables;
  Intra8x8Shared<kTransform8x8> intra8x8;
  struct Warp {
    WarpState<kRd> state;
    typename Intra8x8Shared<kTransform8x8>::Space intra8x8;
  } warps[kIntraWarps];
};

// A warp takes a row at a time, in the order of tickets (Row).
template <bool kRd, bool kRdoq, bool kTransform8x8>
__global__ void __launch_bounds__(32 * kIntraWarps)
    search_intra_kernel(const __grid_constant__ StepView step,
                        const __grid_constant__ ConstantsByQp<true> constants,
                        const __grid_constant__ IntraRows rows) {
  extern __shared__ __align__(16) std::uint8_t s_memory[];
  auto& memory = *reinterpret_cast<IntraMemory<kRd, kTransform8x8>*>(s_memory);
  if constexpr (kRd) memory.rate_tables.fill();
  memory.intra8x8.fill();
  __syncthreads();
  const BatchView& batch = step.batch;
  auto& [s, intra8x8_space] = memory.warps[uniform(static_cast<int>(threadIdx.x >> 5))];
  LaneConstants mine(static_cast<int>(threadIdx.x & 31), constants.initial(), memory.rate_tables,
                     FlatLists{});
  const LaneIndices& lane = mine.lane;
  s.counts[lane.lane] = 0;  // slots 27 to 31 stay zero
  const unsigned count = static_cast<unsigned>(batch.pictures) * static_cast<unsigned>(batch.mb_height);
  for (;;) {
    unsigned ticket = 0;
    if (lane.lane == 0) ticket = atomicAdd(rows.ticket, 1u);
    ticket = uniform(ticket);
    if (ticket >= count) return;
    IntraRow row(batch, rows.progress, ticket);
    const InterChoice* const choices = step.chains[row.position.picture].choices +
                                       static_cast<std::size_t>(row.position.mb_y) * batch.mb_width;
    while (row.find_next(batch, choices, lane)) {
      load_picture_neighbours(s, batch, row.position, lane);
      put_source(s, batch.format, lane, fetch_source(batch, row.position, lane));
      __syncwarp();
      const MacroblockResult result = search_macroblock<kRd, kRdoq>(
          s, constants.of(batch, row.position, mine), mine, row.position, NoMarks{}, WarpsThatNeverMeet{},
          memory.intra8x8.workspace(intra8x8_space, NothingToWaitFor{}));
      __syncwarp();
      const SearchConstants here = constants.of(batch, row.position, mine);
      const InterChoice& inter = choices[row.position.mb_x];
      bool is_better;
      if constexpr (kRd) {
        const std::int64_t header = core::bits_cost<SearchRate>(
            static_cast<std::int64_t>(core::kPMbTypes) << SearchRate::kFraction, here.rd_lambda);
        is_better = result.cost + header < inter.rd_cost;
      } else {
        is_better = result.cost < inter.satd_cost(here.satd_lambda);
      }
      if (is_better) store_macroblock(s, batch, row.position, lane, result.record);
      row.finish(lane);
    }
  }
}

template <bool kRd, bool kRdoq, bool kTransform8x8>
void launch_search(const InterLaunch& job, void* scratch) {
  const StepView& step = job.step;
  constexpr auto kernel = search_intra_kernel<kRd, kRdoq, kTransform8x8>;
  const ConstantsByQp<true> constants(job.search, kTransform8x8, 0, core::kIntraOfP);
  const int rows = step.batch.pictures * step.batch.mb_height;
  const IntraRows memory{static_cast<unsigned*>(scratch), static_cast<unsigned*>(scratch) + rows};
  check_cuda(cudaMemsetAsync(scratch, 0, sizeof(unsigned) * (static_cast<std::size_t>(rows) + 1), job.stream),
             "clearing the progress of rows");
  allow_shared_memory(kernel);
  // Rows wait for rows with earlier tickets only, so any number of blocks will do.
  kernel<<<(rows + kIntraWarps - 1) / kIntraWarps, 32 * kIntraWarps, sizeof(IntraMemory<kRd, kTransform8x8>),
           job.stream>>>(step, constants, memory);
  check_launch("search_intra_kernel");
}

template <bool kTransform8x8>
void search_intra(const InterLaunch& job, void* scratch) {
#if !defined(CU264_COUNTS_CABAC)
  if (job.search.rd_candidates == 0) return launch_search<false, false, kTransform8x8>(job, scratch);
#endif
  job.search.rdoq ? launch_search<true, true, kTransform8x8>(job, scratch)
                  : launch_search<true, false, kTransform8x8>(job, scratch);
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
