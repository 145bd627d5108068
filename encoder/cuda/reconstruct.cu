#include "encoder/cuda/reconstruct.h"

#include <algorithm>
#include <type_traits>

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

// Batches are encoded by pairs of warps while the device has up to this many pictures. Measured with `fast`
// at 1080p on an H200.
inline constexpr int kFewPictures = 24;

// The number of blocks that registers are limited for, measured in the same way: `fast` gains from more
// warps, the other presets gain from fewer spills.
template <bool kRd, bool kRdoq>
inline constexpr int kBlocksPerMultiprocessor = kRdoq ? 4
                                                : kRd ? 5
                                                      : 6;

// The flags come first in the scratch memory, so that one memset clears them.
std::size_t flag_bytes(int pictures, int mb_height) {
  return aligned(sizeof(unsigned) * (static_cast<std::size_t>(pictures) * mb_height + 1), Arena::kAlignment);
}

// Each warp encodes one macroblock row at a time.
template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarks>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, (kBlocksPerMultiprocessor<kRd, kRdoq>))
    reconstruct_kernel(const __grid_constant__ BatchView batch,
                       const __grid_constant__ SearchConstants constants,
                       const __grid_constant__ Wavefront<BottomRow> wavefront,
                       const __grid_constant__ BatchMarks mark_table) {
  __shared__ WarpState<kRd> states[kWarpsPerBlock];
  __shared__ CavlcLengths lengths;
  __shared__ ConstantsByQp<kQpVaries> table;
  if constexpr (kRd) lengths.fill();
  if constexpr (kQpVaries) table.fill(constants);
  if constexpr (kRd || kQpVaries) __syncthreads();
  WarpState<kRd>& s = states[threadIdx.x >> 5];
  LaneConstants mine(constants, lengths);
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
          s, table.of(constants, batch, row.position, mine), mine, row.position, marks);
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
template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarks>
void launch_rows(const BatchView& batch, const SearchConstants& constants,
                 const Wavefront<BottomRow>& wavefront, const BatchMarks& mark_table, int rows,
                 cudaStream_t stream) {
  constexpr auto kernel = reconstruct_kernel<kRd, kRdoq, kQpVaries, BatchMarks>;
  int device = 0, processors = 0, blocks = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * kWarpsPerBlock, 0),
             "occupancy");
  const int needed = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
  const int grid = needed < blocks * processors ? needed : blocks * processors;
  kernel<<<grid, 32 * kWarpsPerBlock, 0, stream>>>(batch, constants, wavefront, mark_table);
}

template <bool kRd, bool kRdoq, bool kQpVaries, class BatchMarks>
void launch(const BatchView& batch, const SearchConstants& constants, void* d_scratch,
            const BatchMarks& mark_table, bool few, cudaStream_t stream) {
  const int rows = batch.pictures * batch.mb_height;
  if (few) {
    const auto wavefront = begin_wavefront<TaggedRow>(batch, d_scratch, stream);
    reconstruct_by_pairs_kernel<kRd, kRdoq, kQpVaries>
        <<<rows, 64, 0, stream>>>(batch, constants, wavefront, mark_table);
  } else {
    const auto wavefront = begin_wavefront<BottomRow>(batch, d_scratch, stream);
    launch_rows<kRd, kRdoq, kQpVaries>(batch, constants, wavefront, mark_table, rows, stream);
  }
  check_launch("reconstruct_kernel");
}

// `fast` has a kernel for each watermarking scheme, because calls to the marking code cost it too much.
template <bool kQpVaries>
void launch(const BatchView& batch, const SearchConstants& constants, void* d_scratch,
            const MarkTable<MarkScheme::either>& mark_table, bool few, cudaStream_t stream) {
  const auto by_satd = [&](const auto& marks) {
    launch<false, false, kQpVaries>(batch, constants, d_scratch, marks, few, stream);
  };
  const auto by_rd = [&](const auto& marks) {
    if (constants.search.rdoq) {
      launch<true, true, kQpVaries>(batch, constants, d_scratch, marks, few, stream);
    } else {
      launch<true, false, kQpVaries>(batch, constants, d_scratch, marks, few, stream);
    }
  };
  const bool rd = constants.search.rdoq || constants.search.rd_candidates > 0;
  if (mark_table.words == nullptr) {
    rd ? by_rd(NoMarkTable{}) : by_satd(NoMarkTable{});
  } else if (rd) {
    by_rd(mark_table);
  } else if (mark_table.parity) {
    by_satd(MarkTable<MarkScheme::by_parity>{mark_table.words, true});
  } else {
    by_satd(MarkTable<MarkScheme::by_sign>{mark_table.words, false});
  }
}

}  // namespace

std::size_t reconstruct_scratch_bytes(int pictures, int mb_width, int mb_height) {
  const std::size_t mbs = static_cast<std::size_t>(mb_width) * mb_height;
  const std::size_t few = static_cast<std::size_t>(std::min(pictures, kFewPictures));
  const std::size_t records =
      std::max(sizeof(BottomRow) * static_cast<std::size_t>(pictures) * mbs, sizeof(TaggedRow) * few * mbs);
  return flag_bytes(pictures, mb_height) + aligned(records, Arena::kAlignment);
}

void launch_reconstruct(const BatchView& batch, int pictures_on_device, std::optional<int> common_qp,
                        Preset preset, void* d_scratch, cudaStream_t stream, const std::uint32_t* marks,
                        bool mark_parity) {
  const SearchConstants constants = search_constants(search_params(preset), common_qp.value_or(0));
  const MarkTable<MarkScheme::either> mark_table = {marks, mark_parity};
  const bool few = std::max(pictures_on_device, batch.pictures) <= kFewPictures;
  if (common_qp && batch.qp_offsets == nullptr) {
    launch<false>(batch, constants, d_scratch, mark_table, few, stream);
  } else {
    launch<true>(batch, constants, d_scratch, mark_table, few, stream);
  }
  if (batch.qp_offsets != nullptr) launch_mb_qp_delta_chain(batch, stream);
}

}  // namespace cu264::encoder::cuda
