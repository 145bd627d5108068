// The kernel of YAVLE (thesis 2.3, algorithm 1) for any window that joins codes to words, any layout of the
// code table and any inter-block scan.
#pragma once

#include "entropy/vle/published/block_positions.cuh"
#include "entropy/vle/published/persistent.cuh"
#include "entropy/vle/published/shared_tables.cuh"

namespace cu264::vle {

// Step 4: reads and looks up every symbol and returns the bits of the thread-code. If a symbol has no code,
// that is reported, and the result is 0.
template <int kSpan, class Scan, class Table>
__device__ __forceinline__ std::uint32_t thread_code_length(const KernelCall<kSpan, Scan>& call,
                                                            std::uint64_t thread_input, const Table& table) {
  std::uint32_t length = 0, seen = 0;
  for_each_symbol(call.inputs, thread_input, [&](std::uint32_t symbol) {
    const std::uint32_t bits = table.length(symbol);
    length += bits, seen |= bits;
  });
  if ((seen & kNoCode) == 0) return length;
  report_missing(call);
  return 0;
}

// Step 6: looks everything up again and writes word by word; the first and the last word, which are shared,
// are written by atomic OR.
template <class Window, int kSpan, class Scan, class Table>
__device__ __forceinline__ void write_thread_code(const KernelCall<kSpan, Scan>& call,
                                                  std::uint64_t thread_input, const Table& table,
                                                  std::uint64_t position) {
  std::uint64_t index = position / 32;
  const std::uint64_t first = index;
  const auto put = [&](std::uint32_t word) {
    if (index == first)
      call.output.merge(index, word);
    else
      call.output.store(index, word);
    ++index;
  };
  Window window(static_cast<std::uint32_t>(position % 32));
  for_each_symbol(call.inputs, thread_input, [&](std::uint32_t symbol) {
    const uint2 codeword = table[symbol];
    window.append(codeword.x, codeword.y, put);
  });
  if (window.has_rest()) call.output.merge(index, window.rest());
}

template <class Window, class Scan, class Table>
__global__ void yavle_kernel(const __grid_constant__ KernelCall<32, Scan> call) {
  __shared__ Table s_table;
  __shared__ BlockPositionsScratch s_positions;
  __shared__ std::uint32_t s_ticket;
  s_table.load(call.table);
  BlockInputs block_inputs(call.d_ticket, s_ticket);
  Scan scan{call.d_scan};
  for (std::uint32_t block_input = block_inputs.first(); block_input < call.block_inputs;
       block_input = block_inputs.next()) {
    const std::uint64_t thread_input = static_cast<std::uint64_t>(block_input) * blockDim.x + threadIdx.x;
    const std::uint32_t length = thread_code_length(call, thread_input, s_table);
    const BlockPositions at = block_positions(length, block_input, scan, s_positions);
    report_length(call, block_input, at.block_end);
    if (length > 0) write_thread_code<Window>(call, thread_input, s_table, at.warp + at.in_warp);
    block_inputs.request();
  }
}

}  // namespace cu264::vle
