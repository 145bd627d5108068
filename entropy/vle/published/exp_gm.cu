// EXP_GM, a step of the ablation: EXP_VLET with the global memory accesses of GVLE (thesis 2.3, section
// 4.2.2), and its tuned form, which differs as GVLE's does (gvle.cu).
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/published_encoders.h"
#include "entropy/vle/published/warp_code.cuh"

namespace cu264::vle {
namespace {

// Calls visit(symbol) for the symbols of a thread-input in registers.
template <class Visit>
__device__ __forceinline__ void for_each_in_registers(const SymbolVector& symbols, bool whole, int first,
                                                      int last, const Visit& visit) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if (whole || (i >= first && i < last)) visit(symbols[i]);
  }
}

template <Form kForm, class Scan>
__global__ void exp_gm_kernel(const __grid_constant__ KernelCall<32, Scan> call) {
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
    const bool whole = call.inputs.is_whole(thread_input);
    const int first = call.inputs.first(thread_input), last = call.inputs.last(thread_input);
    const SymbolVector symbols =
        whole ? load_whole(call.inputs, thread_input) : load_partial(call.inputs, thread_input);
    std::uint32_t length = 0, seen = 0;
    for_each_in_registers(symbols, whole, first, last, [&](std::uint32_t symbol) {
      const std::uint32_t bits = s_table.length(symbol);
      length += bits, seen |= bits;
    });
    const bool known = (seen & kNoCode) == 0;
    if (!known) report_missing(call), length = 0;
    const BlockPositions at = block_positions(length, block_input, scan, s_positions);
    report_length(call, block_input, at.block_end);
    WarpCodeBuilder<kForm>::build(
        s_words, static_cast<std::uint32_t>(at.warp % 32) + at.in_warp, length,
        thread_input + 1 == call.inputs.count(), [&](auto& builder, const auto& put) {
          if (!known) return;
          for_each_in_registers(symbols, whole, first, last, [&](std::uint32_t symbol) {
            const uint2 codeword = s_table[symbol];
            builder.append(codeword.x, codeword.y, put);
          });
        });
    if (kForm == Form::tuned) block_inputs.request();
    write_warp_code(call.output, s_words, at.warp, at.warp_length);
    if (kForm == Form::published) block_inputs.request();
  }
}

template <Form kForm>
void run(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(exp_gm_kernel<kForm, scan::YamamotoScan>, "exp_gm", call, threads,
                                            warp_code_bytes(threads));
}

}  // namespace

const PublishedEncoder kExpGm =
    persistent_encoder<32, scan::YamamotoScan, kShortCode>("exp_gm", run<Form::published>);
const PublishedEncoder kExpGmTuned =
    persistent_encoder<32, scan::YamamotoScan, kShortCode>("exp_gm_tuned", run<Form::tuned>);

}  // namespace cu264::vle
