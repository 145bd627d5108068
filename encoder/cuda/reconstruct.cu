#include "encoder/cuda/reconstruct.h"

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "encoder/cuda/constants_by_qp.cuh"
#include "encoder/cuda/macroblock_search.cuh"
#include "encoder/cuda/mb_qp_delta_chain.h"
#include "encoder/cuda/reconstruct_by_pairs.cuh"
#include "encoder/cuda/wavefront.cuh"

namespace cu264::encoder::cuda {
namespace {

inline constexpr int kWarpsPerBlock = 4;

// Batches up to this size are taken by pairs of warps: measured with `fast` at 1080p on an H200.
inline constexpr int kFewPictures = 24;

// What registers are limited for, measured there too: `fast` gains from more warps, the others from fewer
// spills.

template <bool kRd, bool kRdoq>
inline constexpr int kBlocksPerMultiprocessor = kRdoq ? 4
                                                : kRd ? 5
                                                      : 6;

// The flags first, so that one memset clears them.
std::size_t flag_bytes(int pictures, int mb_height) {
  return aligned(sizeof(unsigned) * (static_cast<std::size_t>(pictures) * mb_height + 1), Arena::kAlignment);
}

// A warp a macroblock row.
template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarking>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, (kBlocksPerMultiprocessor<kRd, kRdoq>))
    reconstruct_kernel(const __grid_constant__ BatchView batch,
                       const __grid_constant__ SearchConstants constants,
                       const __grid_constant__ Wavefront wavefront,
                       const __grid_constant__ BatchMarking marking) {
  __shared__ WarpState<kRd> states[kWarpsPerBlock];
  __shared__ CavlcLengths lengths;
  __shared__ ConstantsByQp<kQpVaries> table;
  if constexpr (kRd) lengths.fill();
  if constexpr (kQpVaries) table.fill(constants);
  if constexpr (kRd || kQpVaries) __syncthreads();
  WarpState<kRd>& s = states[threadIdx.x >> 5];
  LaneConstants mine(constants, lengths);
  const LanePlace& lane = mine.place;
  s.counts[lane.lane] = 0;  // slots 27 to 31 stay so
  const unsigned rows = static_cast<unsigned>(batch.pictures) * batch.mb_height;

  for (;;) {
    const unsigned ticket = take_ticket(wavefront, lane);
    if (ticket >= rows) return;
    Row row(batch, wavefront, ticket);
    unsigned published_above = 0;
    for (int mb_x = 0; mb_x < batch.mb_width; ++mb_x) {
      row.move_to(batch, mb_x);
      const auto marks = marking.of(batch, row.place);
      put_source(s, batch.format, lane, fetch_source(batch, row.place, lane));
      load_neighbours(s, batch, wavefront, row, lane, published_above);
      const MacroblockResult result = search_macroblock<kRd, kRdoq>(
          s, table.of(constants, batch, row.place, mine), mine, row.place, marks);
      publish_macroblock(s, wavefront, row, lane);
      store_macroblock(s, batch, row.place, lane, result.record);
      __syncwarp();
    }
  }
}

// As many blocks as find room, or work.
template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarking>
void launch_rows(const BatchView& batch, const SearchConstants& constants, const Wavefront& wavefront,
                 const BatchMarking& marking, int rows, cudaStream_t stream) {
  constexpr auto kernel = reconstruct_kernel<kRd, kRdoq, kQpVaries, BatchMarking>;
  int device = 0, processors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * kWarpsPerBlock, 0),
             "occupancy");
  const int needed = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
  const int grid = needed < blocks * processors ? needed : blocks * processors;
  kernel<<<grid, 32 * kWarpsPerBlock, 0, stream>>>(batch, constants, wavefront, marking);
}

template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarking>
void launch(const BatchView& batch, const SearchConstants& constants, const Wavefront& wavefront,
            const BatchMarking& marking, cudaStream_t stream) {
  const int rows = batch.pictures * batch.mb_height;
  if (batch.pictures <= kFewPictures) {
    reconstruct_by_pairs_kernel<kRd, kRdoq, kQpVaries>
        <<<rows, 64, 0, stream>>>(batch, constants, wavefront, marking);
  } else {
    launch_rows<kRd, kRdoq, kQpVaries>(batch, constants, wavefront, marking, rows, stream);
  }
  check_launch("reconstruct_kernel");
}

// `fast` has kernels for each scheme of watermarks, as it is bound by the fetching of instructions.
template <bool kQpVaries>
void launch(const BatchView& batch, const SearchConstants& constants, const Wavefront& wavefront,
            const Marking<MarkScheme::either>& marking, cudaStream_t stream) {
  const auto by_satd = [&](const auto& marks) {
    launch<false, false, kQpVaries>(batch, constants, wavefront, marks, stream);
  };
  const auto by_rd = [&](const auto& marks) {
    if (constants.search.rdoq) {
      launch<true, true, kQpVaries>(batch, constants, wavefront, marks, stream);
    } else {
      launch<true, false, kQpVaries>(batch, constants, wavefront, marks, stream);
    }
  };
  const bool rd = constants.search.rdoq || constants.search.rd_candidates > 0;
  if (marking.words == nullptr) {
    rd ? by_rd(NoMarking{}) : by_satd(NoMarking{});
  } else if (rd) {
    by_rd(marking);
  } else if (marking.parity) {
    by_satd(Marking<MarkScheme::by_parity>{marking.words, true});
  } else {
    by_satd(Marking<MarkScheme::by_sign>{marking.words, false});
  }
}

}  // namespace

std::size_t reconstruct_scratch_bytes(int pictures, int mb_width, int mb_height) {
  return flag_bytes(pictures, mb_height) +
         aligned(sizeof(BottomRow) * static_cast<std::size_t>(pictures) * mb_width * mb_height,
                 Arena::kAlignment);
}

void launch_reconstruct(const BatchView& batch, std::optional<int> common_qp, Preset preset, void* memory,
                        cudaStream_t stream, const std::uint32_t* marks, bool mark_parity) {
  const SearchConstants constants = search_constants(search_params(preset), common_qp.value_or(0));

  Wavefront wavefront;
  wavefront.progress = static_cast<unsigned*>(memory);
  wavefront.ticket = wavefront.progress + static_cast<std::size_t>(batch.pictures) * batch.mb_height;
  const std::size_t flags = flag_bytes(batch.pictures, batch.mb_height);
  wavefront.bottom = reinterpret_cast<BottomRow*>(static_cast<std::uint8_t*>(memory) + flags);
  check_cuda(cudaMemsetAsync(memory, 0, flags, stream), "cudaMemsetAsync");
  const Marking<MarkScheme::either> marking = {marks, mark_parity};
  if (common_qp && batch.qp_offsets == nullptr) {
    launch<false>(batch, constants, wavefront, marking, stream);
  } else {
    launch<true>(batch, constants, wavefront, marking, stream);
  }
  if (batch.qp_offsets != nullptr) launch_qp_chain(batch, stream);
}

}  // namespace cu264::encoder::cuda
