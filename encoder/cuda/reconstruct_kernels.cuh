// The kernels of `reconstruct` and how they are launched. Streams with and without Intra_8x8 have kernels of
// their own, and those with scaling lists that are not flat, too; three files compile them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/cuda/error_check.h"
#include "encoder/cuda/constants_by_qp.cuh"
#include "encoder/cuda/macroblock_search.cuh"
#include "encoder/cuda/reconstruct_by_pairs.cuh"
#include "encoder/cuda/reconstruct_launch.cuh"
#include "encoder/cuda/search_rate.cuh"
#include "encoder/cuda/wavefront.cuh"

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

inline constexpr int kWarpsPerBlock = 4;

// The number of blocks that registers are limited for, measured with 1080p on an H200: `fast` gains from more
// warps, the other presets gain from fewer spills.
template <bool kRd, bool kRdoq>
inline constexpr int kBlocksPerMultiprocessor = kRdoq ? 4
                                                : kRd ? 5
                                                      : 6;

// Each warp encodes one macroblock row at a time.
template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, (kBlocksPerMultiprocessor<kRd, kRdoq>))
    reconstruct_kernel(const __grid_constant__ BatchView batch,
                       const __grid_constant__ SearchConstants constants,
                       const __grid_constant__ Wavefront<BottomRow> wavefront,
                       const __grid_constant__ BatchMarks mark_table, const __grid_constant__ Lists lists) {
  __shared__ WarpState<kRd> states[kWarpsPerBlock];
  __shared__ RateTables rate_tables;
  __shared__ ConstantsByQp<kQpVaries> table;
  __shared__ Intra8x8Memory<kIntra8x8, kWarpsPerBlock> intra8x8;
  if constexpr (kRd) rate_tables.fill();
  if constexpr (kQpVaries) table.fill(constants);
  intra8x8.fill();
  if constexpr (kRd || kQpVaries || kIntra8x8) __syncthreads();
  WarpState<kRd>& s = states[threadIdx.x >> 5];
  LaneConstants mine(constants, rate_tables, lists);
  const LaneIndices& lane = mine.lane;
  s.counts[lane.lane] = 0;  // slots 27 to 31 stay zero
  const unsigned rows = static_cast<unsigned>(batch.pictures) * batch.mb_height;

  for (;;) {
    const unsigned ticket = take_ticket(wavefront.ticket, lane);
    if (ticket >= rows) return;
    Row row(batch, wavefront, ticket);
    unsigned published_above = 0;
    for (int mb_x = 0; mb_x < batch.mb_width; ++mb_x) {
      row.move_to(batch, mb_x);
      const auto marks = mark_table.of(batch, row.position);
      put_source(s, batch.format, lane, fetch_source(batch, row.position, lane));
      load_neighbours(s, batch, wavefront, row, lane, published_above);
      const MacroblockResult result = search_macroblock<kRd, kRdoq>(
          s, table.of(constants, batch, row.position, mine), mine, row.position, marks,
          intra8x8.place(static_cast<int>(threadIdx.x >> 5),
                         AboveRightOfRow(batch, wavefront, row, published_above)));
      publish_macroblock(s, wavefront, row, lane);
      store_macroblock(s, batch, row.position, lane, result.record);
      __syncwarp();
    }
  }
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

// Launches as many blocks as the device has room for, or as there is work for.
template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
void launch_rows(const BatchView& batch, const SearchConstants& constants,
                 const Wavefront<BottomRow>& wavefront, const BatchMarks& mark_table, const Lists& lists,
                 int rows, cudaStream_t stream) {
  constexpr auto kernel = reconstruct_kernel<kRd, kRdoq, kQpVaries, kIntra8x8, BatchMarks, Lists>;
  int device = 0, processors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * kWarpsPerBlock, 0),
             "occupancy");
  const int needed = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
  const int grid = needed < blocks * processors ? needed : blocks * processors;
  kernel<<<grid, 32 * kWarpsPerBlock, 0, stream>>>(batch, constants, wavefront, mark_table, lists);
}

template <bool kRd, bool kRdoq, bool kQpVaries, bool kIntra8x8, class BatchMarks, class Lists>
void launch(const ReconstructLaunch& job, const BatchMarks& mark_table, const Lists& lists) {
  const BatchView& batch = job.batch;
  const int rows = batch.pictures * batch.mb_height;
  SearchConstants constants = search_constants(job.search, job.qp);
  constants.transform_8x8_mode = kIntra8x8;
  if (job.few) {
    const auto wavefront = begin_wavefront<TaggedRow>(batch, job.d_scratch, job.stream);
    reconstruct_by_pairs_kernel<kRd, kRdoq, kQpVaries, kIntra8x8>
        <<<rows, 64, 0, job.stream>>>(batch, constants, wavefront, mark_table, lists);
  } else {
    const auto wavefront = begin_wavefront<BottomRow>(batch, job.d_scratch, job.stream);
    launch_rows<kRd, kRdoq, kQpVaries, kIntra8x8>(batch, constants, wavefront, mark_table, lists, rows,
                                                  job.stream);
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
