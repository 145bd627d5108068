#include "encoder/cuda/reconstruct.h"

#include <cuda/atomic>

#include "cu264/status.h"
#include "encoder/cuda/macroblock_search.cuh"

namespace cu264::encoder::cuda {
namespace {

inline constexpr int kWarpsPerBlock = 4;

// What registers are limited for, measured at 1080p on an H200: `fast` gains from more warps, the others from
// fewer spills.
template <bool kRd, bool kRdoq>
inline constexpr int kBlocksPerMultiprocessor = kRdoq ? 4
                                                : kRd ? 5
                                                      : 6;

struct Scratch {
  BottomRow* bottom;   // [picture][mb]
  unsigned* progress;  // [picture][row]: macroblocks whose bottom row is published
  unsigned* ticket;
};

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) & ~std::size_t{255};
}

// The flags first, so that one memset clears them.
std::size_t flag_bytes(int pictures, int mb_height) {
  return aligned(sizeof(unsigned) * (static_cast<std::size_t>(pictures) * mb_height + 1));
}

// Waits until `needed` macroblocks of the row above are published. The row's warp holds an earlier ticket, so
// it is running: nothing waits for a block that has not started.
__device__ unsigned wait_for_row(unsigned* progress, unsigned needed) {
  ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device> row(*progress);
  unsigned done = row.load(::cuda::memory_order_relaxed);
  for (unsigned pause = 20; done < needed; done = row.load(::cuda::memory_order_relaxed)) {
    __nanosleep(pause);
    pause = min(2 * pause, 200u);
  }
  ::cuda::atomic_thread_fence(::cuda::memory_order_acquire, ::cuda::thread_scope_device);
  return done;
}

template <bool kRd>
__device__ void store_macroblock(const WarpState<kRd>& s, const BatchView& batch, const Place& place,
                                 const LanePlace& lane, const core::MacroblockRecord& record) {
  const std::size_t mb = static_cast<std::size_t>(place.picture) * batch.macroblocks_per_picture() +
                         static_cast<std::size_t>(place.mb_y) * batch.mb_width + place.mb_x;
  const int i = lane.lane;
  if (i < 8) {
    std::uint32_t word = 0;
    if (i == 0) {
      word = pack4(static_cast<int>(record.kind), record.intra16x16_pred_mode, record.intra_chroma_pred_mode,
                   record.coded_block_pattern);
    } else if (i == 1) {
      word = record.qp;
    } else if (i < 6) {
      const int block = 4 * (i - 2), bx = core::luma_block_x(block), by = core::luma_block_y(block);
      word = pack4(s.modes[1 + by][1 + bx], s.modes[1 + by][2 + bx], s.modes[2 + by][1 + bx],
                   s.modes[2 + by][2 + bx]);
    } else if (i == 6) {
      word = record.nonzero_blocks;
    }
    reinterpret_cast<std::uint32_t*>(batch.macroblocks + mb)[i] = word;
  } else if (i < 16) {
    reinterpret_cast<std::uint32_t*>(batch.total_coeff + mb * core::kTotalCoeffStride)[i - 8] =
        reinterpret_cast<const std::uint32_t*>(s.counts)[i - 8];
  }
  for (int k = i; k < 2 * core::kBlocksPerMacroblock; k += 32) {
    if ((record.nonzero_blocks >> (k >> 1)) & 1) {
      reinterpret_cast<uint4*>(batch.levels + mb * core::kLevelsPerMacroblock)[k] =
          reinterpret_cast<const uint4*>(s.levels)[k];
    }
  }
  if (batch.reconstruction == nullptr) return;
  const int width = 16 * batch.mb_width, height = 16 * batch.mb_height;
  const std::size_t luma_bytes = static_cast<std::size_t>(width) * height;
  std::uint8_t* const planes = batch.reconstruction + place.picture * (luma_bytes * 3 / 2);
  for (int k = i; k < 64; k += 32) {
    const std::size_t at =
        static_cast<std::size_t>(16 * place.mb_y + (k >> 2)) * width + 16 * place.mb_x + 4 * (k & 3);
    *reinterpret_cast<std::uint32_t*>(planes + at) = s.canvas.word(4 * (k & 3), k >> 2);
  }
  const int c = i >> 4, row = (i >> 1) & 7;
  const std::size_t at = luma_bytes + c * (luma_bytes / 4) +
                         static_cast<std::size_t>(8 * place.mb_y + row) * (width / 2) + 8 * place.mb_x +
                         4 * (i & 1);
  *reinterpret_cast<std::uint32_t*>(planes + at) =
      *reinterpret_cast<const std::uint32_t*>(&s.chroma_out[c][row][4 * (i & 1)]);
}

// Warps take macroblock rows by ticket: row 0 of every picture, then row 1 of every picture and so on.
template <bool kRd, bool kRdoq>
__global__ void __launch_bounds__(32 * kWarpsPerBlock, (kBlocksPerMultiprocessor<kRd, kRdoq>))
    reconstruct_kernel(const __grid_constant__ BatchView batch,
                       const __grid_constant__ SearchConstants constants,
                       const __grid_constant__ Scratch scratch) {
  __shared__ WarpState<kRd> states[kWarpsPerBlock];
  WarpState<kRd>& s = states[threadIdx.x >> 5];
  __shared__ CavlcLengths lengths;
  if constexpr (kRd) {
    lengths.fill();
    __syncthreads();
  }
  const LaneConstants mine(constants, lengths);
  s.counts[threadIdx.x & 31] = 0;  // slots 27 to 31 stay so
  const LanePlace& lane = mine.place;
  const unsigned rows = static_cast<unsigned>(batch.pictures) * batch.mb_height;

  for (;;) {
    unsigned ticket = 0;
    if (lane.lane == 0) ticket = atomicAdd(scratch.ticket, 1u);
    ticket = __shfl_sync(kWarp, ticket, 0);
    if (ticket >= rows) return;

    Place place;
    place.mb_y = static_cast<int>(ticket / static_cast<unsigned>(batch.pictures));
    place.picture = static_cast<int>(ticket % static_cast<unsigned>(batch.pictures));
    const int slice = core::slice_of_row(place.mb_y, batch.slices, batch.mb_height);
    place.above = place.mb_y > core::slice_first_row(slice, batch.slices, batch.mb_height);
    const std::size_t row = static_cast<std::size_t>(place.picture) * batch.mb_height + place.mb_y;
    BottomRow* const bottom = scratch.bottom + row * batch.mb_width;
    unsigned published_above = 0;

    for (place.mb_x = 0; place.mb_x < batch.mb_width; ++place.mb_x) {
      place.left = place.mb_x > 0;
      place.above_right = place.above && place.mb_x + 1 < batch.mb_width;
      load_source(s, batch, place, lane);
      shift_left_neighbours(s, place, lane);
      const unsigned needed = static_cast<unsigned>(min(place.mb_x + 2, batch.mb_width));
      if (place.above && published_above < needed)
        published_above = wait_for_row(scratch.progress + row - 1, needed);
      __syncwarp();
      load_above_neighbours(s, bottom - batch.mb_width + place.mb_x, place, lane);
      __syncwarp();

      const MacroblockResult result = search_macroblock<kRd, kRdoq>(s, constants, mine, place);

      store_bottom_row(s, bottom + place.mb_x, lane);
      __syncwarp();
      if (lane.lane == 0) {
        ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>(scratch.progress[row])
            .store(static_cast<unsigned>(place.mb_x) + 1, ::cuda::memory_order_release);
      }
      store_macroblock(s, batch, place, lane, result.record);
      __syncwarp();
    }
  }
}

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw Error(ErrorCode::device_failure, std::string(what) + ": " + cudaGetErrorString(status));
  }
}

template <bool kRd, bool kRdoq>
void launch(const BatchView& batch, const SearchConstants& constants, const Scratch& scratch,
            cudaStream_t stream) {
  int device = 0, processors = 0, blocks = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  const auto kernel = reconstruct_kernel<kRd, kRdoq>;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32 * kWarpsPerBlock, 0), "occupancy");
  const int rows = batch.pictures * batch.mb_height;
  const int needed = (rows + kWarpsPerBlock - 1) / kWarpsPerBlock;
  const int grid = needed < blocks * processors ? needed : blocks * processors;
  kernel<<<grid, 32 * kWarpsPerBlock, 0, stream>>>(batch, constants, scratch);
  check(cudaGetLastError(), "reconstruct_kernel");
}

}  // namespace

std::size_t reconstruct_scratch_bytes(int pictures, int mb_width, int mb_height) {
  return flag_bytes(pictures, mb_height) +
         aligned(sizeof(BottomRow) * static_cast<std::size_t>(pictures) * mb_width * mb_height);
}

void launch_reconstruct(const BatchView& batch, int qp, Preset preset, void* memory, cudaStream_t stream) {
  SearchConstants constants;
  constants.search = search_params(preset);
  constants.qp = qp;
  constants.satd_lambda = core::satd_lambda(qp);
  constants.rd_lambda = core::rd_lambda(qp);
  constants.luma = core::make_quantiser(qp);
  constants.chroma = core::make_quantiser(core::chroma_qp(qp));

  Scratch scratch;
  scratch.progress = static_cast<unsigned*>(memory);
  scratch.ticket = scratch.progress + static_cast<std::size_t>(batch.pictures) * batch.mb_height;
  const std::size_t flags = flag_bytes(batch.pictures, batch.mb_height);
  scratch.bottom = reinterpret_cast<BottomRow*>(static_cast<std::uint8_t*>(memory) + flags);
  check(cudaMemsetAsync(memory, 0, flags, stream), "cudaMemsetAsync");
  if (constants.search.rdoq) {
    launch<true, true>(batch, constants, scratch, stream);
  } else if (constants.search.rd_candidates > 0) {
    launch<true, false>(batch, constants, scratch, stream);
  } else {
    launch<false, false>(batch, constants, scratch, stream);
  }
}

}  // namespace cu264::encoder::cuda
