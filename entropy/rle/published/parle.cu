// Each thread takes one symbol.
#include "entropy/rle/published/parle.h"

#include <algorithm>

#include "common/cuda/arena.h"
#include "common/cuda/error_check.h"
#include "cu264/rle.h"
#include "cu264/status.h"
#include "entropy/rle/device_encode.h"
#include "entropy/scan/device_scan.h"
#include "entropy/scan/state_launch.cuh"

namespace cu264::rle {
namespace {

constexpr int kThreads = 256;

// Marks the first symbol of each run.
template <class T>
__global__ void mask(const T* d_input, std::uint64_t size, std::uint32_t* d_mask) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < size) d_mask[i] = i % kCut == 0 || d_input[i] != d_input[i - 1];
}

// Computes where each run begins, and where the last one ends, from the number of runs that have begun up to
// each symbol.
__global__ void compact(const std::uint32_t* d_sums, std::uint64_t size, std::uint32_t* d_begins,
                        std::uint64_t* d_runs) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= size) return;
  const std::uint32_t sum = d_sums[i];
  if (i == 0 || sum != d_sums[i - 1]) d_begins[sum - 1] = static_cast<std::uint32_t>(i);
  if (i + 1 == size) {
    d_begins[sum] = static_cast<std::uint32_t>(size);
    *d_runs = sum;
  }
}

template <class T>
__global__ void scatter(EncodeArrays<T> arrays, const std::uint32_t* d_begins) {
  const std::uint64_t runs = *arrays.d_runs, stride = static_cast<std::uint64_t>(gridDim.x) * kThreads;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x; i < runs;
       i += stride) {
    const std::uint32_t begin = d_begins[i];
    arrays.d_symbols[i] = arrays.d_input[begin];
    arrays.d_lengths[i] = d_begins[i + 1] - begin;
  }
}

// After the scan's scratch come the mask, which its sums overwrite, and the beginnings of the runs.
std::uint64_t words_of(std::uint64_t size) {
  return (size + 1 + 63) / 64 * 64;
}
std::size_t scan_bytes(std::uint64_t size) {
  return aligned(scan::scan_scratch_bytes(size), Arena::kAlignment);
}

template <class T>
void launch(const EncodeArrays<T>& arrays, void* d_scratch, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  if (arrays.size == 0) {
    check_cuda(cudaMemsetAsync(arrays.d_runs, 0, sizeof(std::uint64_t), cuda_stream), "cudaMemsetAsync");
    return;
  }
  std::uint32_t* const d_mask =
      reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(d_scratch) + scan_bytes(arrays.size));
  std::uint32_t* const d_begins = d_mask + words_of(arrays.size);
  const auto blocks = static_cast<unsigned>((arrays.size + kThreads - 1) / kThreads);
  mask<<<blocks, kThreads, 0, cuda_stream>>>(arrays.d_input, arrays.size, d_mask);
  check_launch("mask");
  scan::launch_scan({d_mask, d_mask, arrays.size, scan::Kind::inclusive}, d_scratch, stream);
  compact<<<blocks, kThreads, 0, cuda_stream>>>(d_mask, arrays.size, d_begins, arrays.d_runs);
  check_launch("compact");
  scatter<<<std::min(blocks, 8192u), kThreads, 0, cuda_stream>>>(arrays, d_begins);
  check_launch("scatter");
}

}  // namespace

std::size_t parle_scratch_bytes(std::uint64_t size) {
  if (size >> 32 != 0) {
    throw Error(ErrorCode::invalid_argument, "PARLE as published takes less than 2^32 symbols",
                "use rle::device_encode");
  }
  return scan_bytes(size) + 2 * words_of(size) * sizeof(std::uint32_t);
}
void launch_parle(const EncodeArrays<std::uint8_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}
void launch_parle(const EncodeArrays<std::int32_t>& arrays, void* d_scratch, void* stream) {
  launch(arrays, d_scratch, stream);
}

}  // namespace cu264::rle
