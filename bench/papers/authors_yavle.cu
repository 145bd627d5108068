// github.com/daisuke-takafuji/Huffman_coding_Gap_arrays, run by this project's benches. The kernel also makes
// gap arrays, which the papers' VLE does without.
#include "encoder/src/encoder.cu"

#include "bench/papers/authors_encoders.h"
#include "common/cuda/error_check.h"
#include "entropy/vle/resident_blocks.cuh"

namespace cu264::bench {
namespace {

constexpr int kBlockInput = THREAD_ELEMENT * THREAD_NUM;

std::uint64_t block_inputs(std::size_t size) {
  return (size + kBlockInput - 1) / kBlockInput;
}
// One gap a segment of the output, which has at most 16 bits a symbol.
std::uint64_t gaps(std::size_t size) {
  return size * 16 / SEGMENTSIZE + 2;
}

struct Arrays {
  unsigned* counter;
  Codetable* table;
  unsigned long long* sums;
  unsigned* gaps;
};

Arrays arrays(const vle::EncodeCall& call) {
  auto* const d_scratch = static_cast<std::byte*>(call.d_scratch);
  std::byte* const d_sums = d_scratch + 256 + MAX_CODE_NUM * sizeof(Codetable);
  return {reinterpret_cast<unsigned*>(d_scratch), reinterpret_cast<Codetable*>(d_scratch + 256),
          reinterpret_cast<unsigned long long*>(d_sums),
          reinterpret_cast<unsigned*>(d_sums + block_inputs(call.size) * sizeof(unsigned long long))};
}

std::size_t scratch_bytes(std::size_t size, int) {
  return 256 + MAX_CODE_NUM * sizeof(Codetable) + block_inputs(size) * sizeof(unsigned long long) +
         gaps(size) * sizeof(unsigned);
}

__global__ void pair_table(const std::uint32_t* d_code, const std::uint8_t* d_length, Codetable* d_table) {
  d_table[threadIdx.x].code = d_code[threadIdx.x];
  d_table[threadIdx.x].length = d_length[threadIdx.x];
}

void prepare(const vle::EncodeCall& call, int threads) {
  check_cuda(cudaMemsetAsync(call.d_scratch, 0, scratch_bytes(call.size, threads)), "zeroing");
  check_cuda(cudaMemsetAsync(call.d_output, 0, call.capacity), "zeroing");
  check_cuda(cudaMemsetAsync(call.d_result, 0, sizeof *call.d_result), "zeroing");
  pair_table<<<1, vle::kSymbols>>>(call.d_table->code.data(), call.d_table->length.data(),
                                   arrays(call).table);
  check_launch("pair_table");
}

void run(const vle::EncodeCall& call, int) {
  const Arrays own = arrays(call);
  const unsigned blocks = vle::resident_blocks(cuencoder, THREAD_NUM, 0);
  cuencoder<<<blocks, THREAD_NUM>>>(
      reinterpret_cast<unsigned*>(call.d_output), static_cast<unsigned>(call.capacity / 4),
      reinterpret_cast<unsigned*>(const_cast<std::uint8_t*>(call.d_input)), static_cast<unsigned>(call.size),
      own.table, own.sums, own.gaps, static_cast<unsigned>(gaps(call.size)), own.counter);
  check_launch("cuencoder");
}

__global__ void report_length(const unsigned long long* d_sums, std::uint64_t blocks,
                              vle::EncodeResult* d_result) {
  d_result->bits = d_sums[blocks - 1] & ~FLAG_MASK;
}

void run_and_finish(const vle::EncodeCall& call, int threads) {
  run(call, threads);
  report_length<<<1, 1>>>(arrays(call).sums, block_inputs(call.size), call.d_result);
  launch_swap_words(call);
  check_launch("finishing the authors' stream");
}

}  // namespace

AuthorsEncoder authors_yavle() {
  const vle::PublishedEncoder timed{"yavle_authors", vle::kShortCode, THREAD_NUM, THREAD_NUM,
                                    scratch_bytes,   prepare,         run};
  vle::PublishedEncoder checked = timed;
  checked.run = run_and_finish;
  return {timed, checked};
}

}  // namespace cu264::bench
