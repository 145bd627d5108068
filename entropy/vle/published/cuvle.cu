// CUVLE III: every thread encodes NET words of input in private memory and writes them where they belong.
//
// As published but for this: block-inputs are taken by ticket instead of in turn, since a block waits for the
// one before it; an element of I says by a flag that it was written; thread-inputs are aligned wherever the
// input begins; symbols come in the order of memory; the output knows its end. First and last words are
// written by atomic OR throughout, as the paper ends up doing: its plain writes within a warp rely on
// lock-step.
#include "entropy/vle/published/cuvle.h"

#include <array>

#include "entropy/scan/published/yan_scan.cuh"
#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/published/word_builder.cuh"

namespace cu264::vle {
namespace {

// III.C. A thread-code in private memory: at most 32 bits a symbol.
template <int kNet>
struct ThreadCode {
  std::uint32_t word[4 * kNet];
  std::uint32_t length;  // bits
};

// False where a symbol has no code.
template <int kNet>
__device__ __forceinline__ bool encode_thread_input(const ThreadInputs<4 * kNet>& inputs,
                                                    std::uint64_t thread_input, const WordTable& table,
                                                    ThreadCode<kNet>& code) {
  std::uint32_t length = 0, seen = 0;
  int words = 0;
  const auto put = [&](std::uint32_t word) { code.word[words++] = word; };
  WordBuilder builder(0);
  for_each_symbol(inputs, thread_input, [&](std::uint32_t symbol) {
    const uint2 codeword = table[symbol];
    seen |= codeword.y;
    if ((codeword.y & kNoCode) != 0) return;
    builder.append(codeword.x, codeword.y, put);
    length += codeword.y;
  });
  if (builder.has_rest()) put(builder.rest());
  const bool known = (seen & kNoCode) == 0;
  code.length = known ? length : 0;
  return known;
}

// III.E.
template <int kNet>
__device__ __forceinline__ void write_thread_code(const OutputWords& output, const ThreadCode<kNet>& code,
                                                  std::uint64_t position) {
  const std::uint32_t shift = static_cast<std::uint32_t>(position % 32);
  const std::uint32_t last = (shift + code.length - 1) / 32;
  const std::uint32_t code_words = (code.length + 31) / 32;
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i <= last; ++i) {
    const std::uint32_t word = i < code_words ? code.word[i] : 0;
    const std::uint32_t shifted = __funnelshift_r(word, before, shift);
    if (i == 0 || i == last)
      output.merge(position / 32 + i, shifted);
    else
      output.store(position / 32 + i, shifted);
    before = word;
  }
}

template <int kNet>
__global__ void cuvle_kernel(const __grid_constant__ KernelCall<4 * kNet, scan::YanScan> call) {
  __shared__ WordTable s_table;
  __shared__ BlockPositionsScratch s_positions;
  __shared__ std::uint32_t s_ticket;
  s_table.load(call.table);
  BlockInputs block_inputs(call.d_ticket, s_ticket);
  scan::YanScan scan{call.d_scan};
  for (std::uint32_t block_input = block_inputs.first(); block_input < call.block_inputs;
       block_input = block_inputs.next()) {
    const std::uint64_t thread_input = static_cast<std::uint64_t>(block_input) * blockDim.x + threadIdx.x;
    ThreadCode<kNet> code;
    if (!encode_thread_input(call.inputs, thread_input, s_table, code)) report_missing(call);
    const BlockPositions at = block_positions(code.length, block_input, scan, s_positions);
    report_length(call, block_input, at.block_end);
    if (code.length > 0) write_thread_code(call.output, code, at.warp + at.in_warp);
    block_inputs.request();
  }
}

template <int kNet>
void run(const EncodeCall& call, int threads) {
  launch_persistent<4 * kNet, scan::YanScan>(cuvle_kernel<kNet>, "cuvle", call, threads);
}

template <int kNet>
constexpr PublishedEncoder cuvle(const char* name) {
  return {name,
          kLongCode,
          128,
          1024,
          persistent_scratch_bytes<4 * kNet, scan::YanScan>,
          prepare_persistent<4 * kNet, scan::YanScan, kLongCode>,
          run<kNet>};
}

}  // namespace

const PublishedEncoder kCuvle = cuvle<16>("cuvle");

std::span<const PublishedEncoder> cuvle_variants() {
  static const std::array variants{cuvle<1>("cuvle_net1"), cuvle<2>("cuvle_net2"), cuvle<4>("cuvle_net4"),
                                   cuvle<8>("cuvle_net8"), cuvle<16>("cuvle_net16")};
  return variants;
}

}  // namespace cu264::vle
