#include "entropy/cavlc/zeros_and_runs.h"

#include "common/cuda/error_check.h"
#include "core/bit_ops.h"
#include "core/cavlc_runs.h"
#include "core/cavlc_tables.h"

namespace cu264::entropy {
namespace {

constexpr int kThreads = 256;

__device__ std::uint32_t zeros_and_runs(std::uint32_t nonzero, bool chroma_dc) {
  const int total_coeff = core::count_ones(nonzero);
  if (total_coeff == 0 || total_coeff == (chroma_dc ? 4 : 16)) return 0;
  const int zeros = core::highest_bit(nonzero) + 1 - total_coeff;
  const core::CodeWord total_zeros = chroma_dc ? core::chroma_dc_total_zeros_code(total_coeff, zeros)
                                               : core::total_zeros_code(total_coeff, zeros);
  const core::Runs runs = core::run_before_codes(nonzero);
  // 26 bits that are not zeros, 30 in all, at most.
  return (total_zeros.bits << runs.length | runs.bits) << 5 |
         static_cast<std::uint32_t>(total_zeros.length + runs.length);
}

__global__ void __launch_bounds__(kThreads) make_zeros_and_runs(std::uint32_t* d_table) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= kZerosAndRunsEntries) return;
  d_table[i] = zeros_and_runs(i & (kChromaDcZerosAndRuns - 1), i >= kChromaDcZerosAndRuns);
}

}  // namespace

void launch_make_zeros_and_runs(std::uint32_t* d_table, cudaStream_t stream) {
  make_zeros_and_runs<<<(kZerosAndRunsEntries + kThreads - 1) / kThreads, kThreads, 0, stream>>>(d_table);
  check_launch("make_zeros_and_runs");
}

}  // namespace cu264::entropy
