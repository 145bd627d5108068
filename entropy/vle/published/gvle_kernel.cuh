// The kernel of GVLE (thesis 2.3, algorithm 3), for any inter-block scan: with Yamamoto's it is the last step
// of the ablation, EXP_REG.
#pragma once

#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/warp_code.cuh"

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
  BlockInputs block_inputs(call.d_ticket, s_ticket);
  Scan scan{call.d_scan};
  std::uint32_t* const s_words = s_warp_codes + (threadIdx.x >> 5) * kWarpCodeWords;
  for (std::uint32_t block_input = block_inputs.first(); block_input < call.block_inputs;
       block_input = block_inputs.next()) {
    const std::uint64_t thread_input = static_cast<std::uint64_t>(block_input) * blockDim.x + threadIdx.x;
    Segments segments;
    load_segments(call, thread_input, s_table, segments);
    const BlockPositions at = block_positions(segments.total, block_input, scan, s_positions);
    report_length(call, block_input, at.block_end);
    build_warp_code(s_words, static_cast<std::uint32_t>(at.warp % 32) + at.in_warp, segments.total,
                    [&](WordBuilder& builder, const auto& put) {
#pragma unroll
                      for (int i = 0; i < 16; ++i) builder.append(segments.value[i], segments.length[i], put);
                    });
    block_inputs.request();
    write_warp_code(call.output, s_words, at.warp, at.warp_length);
  }
}

}  // namespace cu264::vle
