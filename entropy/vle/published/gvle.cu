// GVLE: Fuentes-Alventosa, Gomez-Luna, Medina-Carnicer (The Journal of Supercomputing, 2022; thesis 2.3,
// algorithm 3). EXP_REG, the last step of the ablation, is the same kernel with Yamamoto's inter-block scan
// (section 4.2.3).
//
// The tuned forms join codes in a window of 64 bits, request the next ticket before step 8, so that it comes
// while the warp-codes are written, and join the bits that two threads share in a word of the buffer by an
// atomic OR. GVLE's adds where the paper's scan stores. docs/papers.md lists what differs from the published
// form.
#include "entropy/scan/gvle_scan.cuh"
#include "entropy/scan/published/printed_gvle_scan.cuh"
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/published_encoders.h"
#include "entropy/vle/published/warp_code.cuh"

namespace cu264::vle {
namespace {

template <Form kForm, class Scan>
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
    WarpCodeBuilder<kForm>::build(s_words, static_cast<std::uint32_t>(at.warp % 32) + at.in_warp,
                                  segments.total, thread_input + 1 == call.inputs.count(),
                                  [&](auto& builder, const auto& put) {
#pragma unroll
                                    for (int i = 0; i < 16; ++i)
                                      builder.append(segments.value[i], segments.length[i], put);
                                  });
    if (kForm == Form::tuned) block_inputs.request();
    write_warp_code(call.output, s_words, at.warp, at.warp_length);
    if (kForm == Form::published) block_inputs.request();
  }
}

template <Form kForm, class Scan>
void run(const EncodeCall& call, int threads) {
  launch_persistent<32, Scan>(gvle_kernel<kForm, Scan>, "gvle", call, threads, warp_code_bytes(threads));
}

template <Form kForm, class Scan>
constexpr PublishedEncoder gvle(const char* name) {
  return persistent_encoder<32, Scan, kShortCode>(name, run<kForm, Scan>);
}

}  // namespace

const PublishedEncoder kGvle = gvle<Form::published, scan::PrintedGvleScan>("gvle");
const PublishedEncoder kExpReg = gvle<Form::published, scan::YamamotoScan>("exp_reg");
const PublishedEncoder kGvleTuned = gvle<Form::tuned, scan::GvleScan>("gvle_tuned");
const PublishedEncoder kExpRegTuned = gvle<Form::tuned, scan::YamamotoScan>("exp_reg_tuned");

}  // namespace cu264::vle
