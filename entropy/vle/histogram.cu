// Every warp counts in tables of its own in shared memory; it has several of them, so that lanes with the
// same symbol rarely collide. The sums of the blocks are added to 64-bit counts.
#include "entropy/vle/histogram.h"

#include <algorithm>
#include <cuda/atomic>

#include "common/cuda/error_check.h"
#include "cu264/vle_types.h"
#include "entropy/vle/resident_blocks.cuh"
#include "entropy/vle/thread_inputs.cuh"

namespace cu264::vle {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kCopies = 4;  // tables of each warp
// The counts of a block have 32 bits.
constexpr std::uint64_t kMaxBlockCount = 1ull << 31;

// Every fourth lane shares a table; tables are padded so that they begin in different banks.
using WarpTables = std::uint32_t[kCopies][kSymbols + 8];

__device__ __forceinline__ void count(std::uint32_t* s_table, std::uint32_t symbol, std::uint32_t times) {
  atomicAdd(s_table + symbol, times);
}

// Runs within a word are counted at once: data with few different symbols has many of them.
__device__ __forceinline__ void count_word(std::uint32_t* s_table, std::uint32_t word) {
  if (word == (word & 255u) * 0x01010101u) {
    count(s_table, word & 255u, 4);
    return;
  }
#pragma unroll
  for (int byte = 0; byte < 4; ++byte) count(s_table, word >> (8 * byte) & 255u, 1);
}

__global__ void __launch_bounds__(kThreads)
    histogram(const __grid_constant__ ThreadInputs<16> inputs, unsigned long long* d_counts) {
  __shared__ WarpTables s_tables[kWarps];
  std::uint32_t* const s_all = &s_tables[0][0][0];
  for (int i = static_cast<int>(threadIdx.x); i < static_cast<int>(sizeof(s_tables) / 4); i += kThreads)
    s_all[i] = 0;
  __syncthreads();
  std::uint32_t* const s_mine = s_tables[threadIdx.x / 32][threadIdx.x % kCopies];
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kThreads;
  for (std::uint64_t t = static_cast<std::uint64_t>(blockIdx.x) * kThreads + threadIdx.x; t < inputs.count();
       t += stride) {
    if (inputs.is_whole(t)) {
      const uint4 v = __ldg(reinterpret_cast<const uint4*>(inputs.at(t)));
      count_word(s_mine, v.x), count_word(s_mine, v.y), count_word(s_mine, v.z), count_word(s_mine, v.w);
    } else {
      for (int i = inputs.first(t); i < inputs.last(t); ++i) count(s_mine, inputs.at(t)[i], 1);
    }
  }
  __syncthreads();
  for (int symbol = static_cast<int>(threadIdx.x); symbol < kSymbols; symbol += kThreads) {
    std::uint32_t sum = 0;
    for (int i = 0; i < kWarps * kCopies; ++i) sum += s_tables[i / kCopies][i % kCopies][symbol];
    if (sum != 0) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(d_counts[symbol])
          .fetch_add(sum, cuda::memory_order_relaxed);
    }
  }
}

}  // namespace

void launch_histogram(const std::uint8_t* d_input, std::size_t size, std::uint64_t* d_counts, void* stream) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  check_cuda(
      cudaMemsetAsync(d_counts, 0, kSymbols * sizeof(std::uint64_t), static_cast<cudaStream_t>(stream)),
      "zeroing device memory");
  const ThreadInputs<16> inputs(d_input, size);
  if (inputs.count() == 0) return;
  const unsigned resident = resident_blocks(histogram, kThreads, 0);
  const std::uint64_t useful = (inputs.count() + kThreads - 1) / kThreads;
  const std::uint64_t needed = size / kMaxBlockCount + 1;
  const auto grid = static_cast<unsigned>(std::max(needed, std::min<std::uint64_t>(useful, resident)));
  histogram<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      inputs, reinterpret_cast<unsigned long long*>(d_counts));
  check_launch("histogram");
}

}  // namespace cu264::vle
