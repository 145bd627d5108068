// GVLE: Fuentes-Alventosa, Gomez-Luna, Medina-Carnicer (The Journal of Supercomputing, 2022; thesis 2.3,
// algorithm 3). EXP_REG, the last step of the ablation, is the same kernel with Yamamoto's inter-block scan
// (section 4.2.3).
//
// docs/papers.md lists what differs from the published form. Words are built in a window of 64 bits. The next
// ticket is requested before step 8. Bits that two threads share in a word of the buffer are joined by an
// atomic OR, since thread-inputs at the ends may be shorter than a word.
#include "entropy/scan/gvle_scan.cuh"
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/published_encoders.h"
#include "entropy/vle/published/warp_code.cuh"

namespace cu264::vle {
namespace {

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

void run_gvle(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::GvleScan>(gvle_kernel<scan::GvleScan>, "gvle", call, threads,
                                        warp_code_bytes(threads));
}

void run_exp_reg(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(gvle_kernel<scan::YamamotoScan>, "exp_reg", call, threads,
                                            warp_code_bytes(threads));
}

}  // namespace

const PublishedEncoder kGvle = persistent_encoder<32, scan::GvleScan, kShortCode>("gvle", run_gvle);
const PublishedEncoder kExpReg =
    persistent_encoder<32, scan::YamamotoScan, kShortCode>("exp_reg", run_exp_reg);

}  // namespace cu264::vle
