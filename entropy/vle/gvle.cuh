// The kernel of GVLE (thesis 2.3, algorithm 3), for any inter-block scan: with Yamamoto's it is the last step
// of the ablation, EXP_REG.
#pragma once

#include "entropy/vle/persistent.cuh"
#include "entropy/vle/warp_code.cuh"

namespace cu264::vle {

inline std::size_t warp_code_bytes(int threads) {
  return threads / 32 * kWarpCodeWords * sizeof(std::uint32_t);
}

template <class Scan>
__global__ void gvle_kernel(const __grid_constant__ KernelCall<32, Scan> call) {
  extern __shared__ std::uint32_t s_warp_codes[];
  __shared__ SplitTable s_table;
  __shared__ BlockPositionsScratch s_positions;
  __shared__ std::uint32_t s_ticket;
  s_table.load(call.table);
  if (threadIdx.x == 0) s_ticket = take_ticket(call.d_ticket);
  __syncthreads();
  Scan scan{call.d_scan};
  std::uint32_t* const s_words = s_warp_codes + (threadIdx.x >> 5) * kWarpCodeWords;
  for (std::uint32_t block_input = s_ticket; block_input < call.block_inputs; block_input = s_ticket) {
    const std::uint64_t thread_input = static_cast<std::uint64_t>(block_input) * blockDim.x + threadIdx.x;
    Segments segments;
    load_segments(call, thread_input, s_table, segments);
    const BlockPositions at = block_positions(segments.total, block_input, scan, s_positions);
    build_warp_code(s_words, static_cast<std::uint32_t>(at.warp % 32) + at.in_warp, segments.total,
                    [&](WordBuilder& builder, const auto& put) {
#pragma unroll
                      for (int i = 0; i < 16; ++i) builder.append(segments.value[i], segments.length[i], put);
                    });
    write_warp_code(call.output, s_words, at.warp, at.warp_length);
    if (threadIdx.x == 0) {
      if (block_input + 1 == call.block_inputs) call.d_result->bits = at.block_end;
      s_ticket = take_ticket(call.d_ticket);
    }
    __syncthreads();
  }
}

}  // namespace cu264::vle
