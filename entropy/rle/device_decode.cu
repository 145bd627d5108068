// Turns runs back into symbols. A scan of the lengths says where each run ends; each thread, which writes 16
// bytes, finds by bisection the run in which its bytes begin.
#include <algorithm>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "entropy/rle/device_encode.h"
#include "entropy/scan/device_scan.h"
#include "entropy/scan/tile.cuh"

namespace cu264::rle {
namespace {

constexpr int kThreads = 256;

// Returns the first run of [low, high) that ends after `position`, or high if there is none.
__device__ __forceinline__ std::uint64_t run_at(const std::uint64_t* d_ends, std::uint64_t low,
                                                std::uint64_t high, std::uint64_t position) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (d_ends[middle] > position)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    decode_tiles(DecodeArrays<T> arrays, const std::uint64_t* d_ends, int skew) {
  constexpr int kItems = scan::kChunkItems<T>, kTile = kThreads * kItems;
  __shared__ std::uint64_t s_runs[2];  // the first and last run of the tile
  const std::uint64_t total = arrays.runs == 0 ? 0 : d_ends[arrays.runs - 1];
  const std::int64_t size = static_cast<std::int64_t>(min(total, arrays.size));
  const std::int64_t tile_first = static_cast<std::int64_t>(blockIdx.x) * kTile - skew;
  if (threadIdx.x < 2) {
    const std::int64_t edge = min(max(tile_first + threadIdx.x * kTile, std::int64_t{0}), size);
    s_runs[threadIdx.x] = run_at(d_ends, 0, arrays.runs, static_cast<std::uint64_t>(edge));
  }
  __syncthreads();
  const std::int64_t first = tile_first + static_cast<std::int64_t>(threadIdx.x) * kItems;
  const std::int64_t begin = max(first, std::int64_t{0}), end = min(first + kItems, size);
  if (begin >= end) return;
  const std::uint64_t most = min(s_runs[1] + 1, arrays.runs);
  std::uint64_t run = run_at(d_ends, s_runs[0], most, static_cast<std::uint64_t>(begin));
  T symbol = arrays.d_symbols[run];
  std::uint64_t run_end = d_ends[run];
  const auto next = [&](std::int64_t position) {
    if (static_cast<std::uint64_t>(position) < run_end) return;
    run_end = d_ends[++run];
    if (static_cast<std::uint64_t>(position) >= run_end) {  // skips runs of no symbols
      run = run_at(d_ends, run + 1, most, static_cast<std::uint64_t>(position));
      run_end = d_ends[run];
    }
    symbol = arrays.d_symbols[run];
  };
  if (end - begin == kItems) {
    constexpr int kPerWord = kItems / 4, kBits = 32 / kPerWord;
    unsigned words[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      next(begin + k);
      words[k / kPerWord] |= static_cast<unsigned>(symbol) << k % kPerWord * kBits;
    }
    *reinterpret_cast<uint4*>(arrays.d_output + first) = make_uint4(words[0], words[1], words[2], words[3]);
    return;
  }
  for (std::int64_t i = begin; i < end; ++i) {
    next(i);
    arrays.d_output[i] = symbol;
  }
}

std::size_t scan_bytes(std::uint64_t runs) {
  return aligned(scan::scan_scratch_bytes(runs), Arena::kAlignment);
}

template <class T>
void launch(const DecodeArrays<T>& arrays, void* d_scratch, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  if (arrays.runs == 0) {
    check_cuda(cudaMemsetAsync(arrays.d_total, 0, sizeof(std::uint64_t), cuda_stream), "cudaMemsetAsync");
    return;
  }
  std::uint64_t* const d_ends =
      reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(d_scratch) + scan_bytes(arrays.runs));
  scan::launch_scan({arrays.d_lengths, d_ends, arrays.runs, scan::Kind::inclusive}, d_scratch, stream);
  check_cuda(cudaMemcpyAsync(arrays.d_total, d_ends + arrays.runs - 1, sizeof(std::uint64_t),
                             cudaMemcpyDeviceToDevice, cuda_stream),
             "cudaMemcpyAsync");
  if (arrays.size == 0) return;
  const int skew = scan::chunk_skew(arrays.d_output);
  const std::uint64_t tiles = scan::tile_count(arrays.size, skew, kThreads * scan::kChunkItems<T>);
  decode_tiles<T><<<static_cast<unsigned>(tiles), kThreads, 0, cuda_stream>>>(arrays, d_ends, skew);
  check_launch("decode_tiles");
}

}  // namespace

std::size_t decode_scratch_bytes(std::uint64_t runs) {
  return scan_bytes(runs) + runs * sizeof(std::uint64_t);
}
void launch_decode(const DecodeArrays<std::uint8_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}
void launch_decode(const DecodeArrays<std::int32_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}

}  // namespace cu264::rle
