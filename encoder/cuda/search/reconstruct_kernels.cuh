// The kernels of `reconstruct` and how they are launched. Streams with Intra_8x8, streams without it and
// streams with scaling lists that are not flat have separate kernels; three files compile them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/cuda/error_check.h"
#include "common/cuda/kernel_shared_memory.h"
#include "encoder/cuda/search/constants_by_qp.cuh"
#include "encoder/cuda/search/macroblock_search.cuh"
#include "encoder/cuda/search/reconstruct_by_pairs.cuh"
#include "encoder/cuda/search/reconstruct_launch.cuh"
#include "encoder/cuda/search/search_rate.cuh"
#include "encoder/cuda/search/warps_in_step.cuh"
#include "encoder/cuda/search/wavefront.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

// How the warps of a kernel are arranged; a launch may have blocks with fewer warps.
template <bool kRd, bool kIntra8x8>
struct RowKernelShape {
  static constexpr bool kInStep = tuned::rows_in_step(kRd, kIntra8x8);
  static constexpr int kWarps = tuned::warps_of_row_block(kRd, kIntra8x8);
  static constexpr int kBlocks = tuned::row_blocks_of_multiprocessor(kRd, kIntra8x8);
  using Warps = std::conditional_t<kInStep, WarpsInStep, WarpsApart>;
};

// The shared memory of a thread block.
template <bool kRd, bool kIntra8x8>
struct BlockMemory {
  struct RowMemory {
    WarpState<kRd> state;
    typename Intra8x8Shared<kIntra8x8>::Space intra8x8;
  };
  static constexpr int kMaxWarps = RowKernelShape<kRd, kIntra8x8>::kWarps;
  RateTables rate_tables;
  Intra8x8Shared<kIntra8x8> intra8x8;
  typename RowKernelShape<kRd, kIntra8x8>::Warps::Memory warps;
  RowMemory rows[kMaxWarps];  // by warp; a block has memory for those that it has

  static constexpr std::size_t bytes(int warps) {
    return sizeof(BlockMemory) - static_cast<std::size_t>(kMaxWarps - warps) * sizeof(RowMemory);
  }
};

// Each warp encodes one macroblock row at a time.
template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
__global__ void __launch_bounds__(32 * (RowKernelShape<kRd, kIntra8x8>::kWarps),
                                  (RowKernelShape<kRd, kIntra8x8>::kBlocks))
    reconstruct_kernel(const __grid_constant__ BatchView batch,
                       const __grid_constant__ ConstantsByQp<kQpVaries> constants,
                       const __grid_constant__ Wavefront<BottomRow> wavefront,
                       const __grid_constant__ BatchMarks mark_table, const __grid_constant__ Lists lists) {
  extern __shared__ __align__(16) std::uint8_t s_memory[];
  auto& memory = *reinterpret_cast<BlockMemory<kRd, kIntra8x8>*>(s_memory);
  if constexpr (kRd) memory.rate_tables.fill();
  memory.intra8x8.fill();
  if constexpr (kRd || kIntra8x8) __syncthreads();
  using Shape = RowKernelShape<kRd, kIntra8x8>;
  // The address is computed once if it does not depend on threadIdx. Using the lane's number would cost
  // `fast` without Intra_8x8 a register that it does not have.
  auto& [s, intra8x8_space] = memory.rows[uniform(static_cast<int>(threadIdx.x >> 5))];
  const int number = static_cast<int>(threadIdx.x & 31);
  LaneConstants mine(Shape::kInStep ? kept(number) : number, constants.initial(), memory.rate_tables, lists);
  const LaneIndices& lane = mine.lane;
  s.counts[lane.lane] = 0;  // slots 27 to 31 stay zero
  const unsigned rows = static_cast<unsigned>(batch.pictures) * batch.mb_height;

  typename Shape::Warps warps(memory.warps);
  do {
    const unsigned ticket = warps.take_ticket(wavefront.ticket, rows);
    if (ticket >= rows) return;
    Row row(batch, wavefront, ticket);
    unsigned published_above = 0;
    for (int mb_x = 0; mb_x < batch.mb_width; ++mb_x) {
      row.move_to(batch, mb_x);
      const auto marks = mark_table.of(batch, row.position);
      put_source(s, batch.format, lane, fetch_source(batch, row.position, lane));
      load_neighbours(s, batch, wavefront, row, lane, published_above);
      const MacroblockResult result = search_macroblock<kRd, kRdoq>(
          s, constants.of(batch, row.position, mine), mine, row.position, marks, warps,
          memory.intra8x8.workspace(intra8x8_space, AboveRightOfRow(batch, wavefront, row, published_above)));
      publish_macroblock(s, wavefront, row, lane);
      store_macroblock(s, batch, row.position, lane, result.record);
      __syncwarp();
      warps.meet();
    }
  } while (!warps.is_last());
}

// A wavefront in scratch memory at its beginning.
template <class Record>
Wavefront<Record> begin_wavefront(const BatchView& batch, void* d_scratch, cudaStream_t stream) {
  Wavefront<Record> wavefront;
  wavefront.progress = static_cast<unsigned*>(d_scratch);
  wavefront.ticket = wavefront.progress + static_cast<std::size_t>(batch.pictures) * batch.mb_height;
  const std::size_t flags = flag_bytes(batch.pictures, batch.mb_height);
  wavefront.bottom = reinterpret_cast<Record*>(static_cast<std::uint8_t*>(d_scratch) + flags);
  const std::size_t tags =
      std::is_same_v<Record, TaggedRow>
          ? sizeof(Record) * static_cast<std::size_t>(batch.pictures) * batch.macroblocks_per_picture()
          : 0;
  check_cuda(cudaMemsetAsync(d_scratch, 0, flags + tags, stream), "cudaMemsetAsync");
  return wavefront;
}

// A multiprocessor deals the warps of a thread block out to this many schedulers in turn. Only speed depends
// on it.
inline constexpr int kSchedulers = 4;

// Returns the number of warps of a block. If the `rows` of all batches on the device do not fill it, they are
// spread over all its multiprocessors. The rows that a block takes together come from as many pictures of its
// batch, so that none waits for another (WarpsInStep).
inline int warps_of_block(int most, int rows, int pictures, int processors) {
  const int warps = std::clamp(std::min(rows / processors, pictures), 1, most);
  return warps < kSchedulers ? warps : warps - warps % kSchedulers;
}

// Launches as many blocks as the device has room for, or as there is work for.
template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
void launch_rows(const BatchView& batch, const ConstantsByQp<kQpVaries>& constants,
                 const Wavefront<BottomRow>& wavefront, const BatchMarks& mark_table, const Lists& lists,
                 int pictures_on_device, cudaStream_t stream) {
  constexpr auto kernel = reconstruct_kernel<kRd, kRdoq, kQpVaries, kIntra8x8, BatchMarks, Lists>;
  using Memory = BlockMemory<kRd, kIntra8x8>;
  int device = 0, processors = 0, most_bytes = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "cudaDeviceGetAttribute");
  int warps =
      warps_of_block(Memory::kMaxWarps, pictures_on_device * batch.mb_height, batch.pictures, processors);
  while (warps > kSchedulers && Memory::bytes(warps) > static_cast<std::size_t>(most_bytes)) {
    warps -= kSchedulers;
  }
  const std::size_t bytes = Memory::bytes(warps);
  allow_shared_memory(kernel);
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * warps, bytes), "occupancy");
  const int rows = batch.pictures * batch.mb_height, needed = (rows + warps - 1) / warps;
  const int grid = needed < blocks * processors ? needed : blocks * processors;
  kernel<<<grid, 32 * warps, bytes, stream>>>(batch, constants, wavefront, mark_table, lists);
}

template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
void launch(const ReconstructLaunch& job, const BatchMarks& mark_table, const Lists& lists) {
  const BatchView& batch = job.batch;
  const int rows = batch.pictures * batch.mb_height;
  const ConstantsByQp<kQpVaries> constants(job.search, kIntra8x8, job.qp);
  if (job.pictures_on_device <= tuned::max_pictures_by_pairs(kRd, kIntra8x8)) {
    const auto wavefront = begin_wavefront<TaggedRow>(batch, job.d_scratch, job.stream);
    reconstruct_by_pairs_kernel<kRd, kRdoq, kQpVaries, kIntra8x8>
        <<<rows, 64, 0, job.stream>>>(batch, constants, wavefront, mark_table, lists);
  } else {
    const auto wavefront = begin_wavefront<BottomRow>(batch, job.d_scratch, job.stream);
    launch_rows<kRd, kRdoq, kQpVaries, kIntra8x8>(batch, constants, wavefront, mark_table, lists,
                                                  job.pictures_on_device, job.stream);
  }
  check_launch("reconstruct_kernel");
}

// `fast` has a kernel for each watermarking scheme, because calls to the marking code cost it too much. With
// Intra_8x8 it has one for both. Marks and CABAC exclude each other (docs/protection.md).
template <bool kQpVaries, bool kIntra8x8, class Lists = FlatLists>
void launch(const ReconstructLaunch& job, const Lists& lists = {}) {
  const SearchParams& search = job.search;
  const auto by_rd = [&](const auto& marks) {
    search.rdoq ? launch<true, true, kQpVaries, kIntra8x8>(job, marks, lists)
                : launch<true, false, kQpVaries, kIntra8x8>(job, marks, lists);
  };
#if defined(CU264_COUNTS_CABAC)
  by_rd(NoMarkTable{});
#else
  const MarkTable<MarkScheme::either> mark_table = {job.marks, job.mark_parity};
  const auto by_satd = [&](const auto& marks) {
    launch<false, false, kQpVaries, kIntra8x8>(job, marks, lists);
  };
  const bool rd = search.rdoq || search.rd_candidates > 0;
  if (job.marks == nullptr) {
    rd ? by_rd(NoMarkTable{}) : by_satd(NoMarkTable{});
  } else if (rd) {
    by_rd(mark_table);
  } else if constexpr (kIntra8x8) {
    by_satd(mark_table);
  } else if (job.mark_parity) {
    by_satd(MarkTable<MarkScheme::by_parity>{job.marks, true});
  } else {
    by_satd(MarkTable<MarkScheme::by_sign>{job.marks, false});
  }
#endif
}

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
