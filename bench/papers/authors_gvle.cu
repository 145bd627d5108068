// github.com/z12fuala/GVLE, run by this project's benches.
//
// Its scans over the lanes of a warp name only the lanes that take part in their masks, while all lanes
// execute them. Since Volta that is undefined, and on Hopper it traps; the macros below name all lanes.
#define __shfl_up_sync(mask, value, delta, width) __shfl_up_sync(0xffffffffu, value, delta, width)
#define __shfl_sync(mask, value, lane) __shfl_sync(0xffffffffu, value, lane)
#include "GVLE_kernel.h"
#undef __shfl_up_sync
#undef __shfl_sync

#include "bench/papers/authors_encoders.h"
#include "common/cuda/error_check.h"
#include "entropy/vle/resident_blocks.cuh"

namespace cu264::bench {
namespace {

constexpr int kThreads = 128;

std::uint64_t block_inputs(std::size_t size) {
  return (size + 32 * kThreads - 1) / (32 * kThreads);
}
std::uint64_t scan_elements(std::size_t size) {
  return (block_inputs(size) + 31) / 32 * 32;
}

// The arrays in scratch memory that the kernel takes besides input and output.
struct Arrays {
  unsigned* counter;
  unsigned short* values;
  unsigned char* lengths;
  unsigned long long* scan;
};

Arrays arrays(const vle::EncodeCall& call) {
  auto* const d_scratch = static_cast<std::byte*>(call.d_scratch);
  return {reinterpret_cast<unsigned*>(d_scratch), reinterpret_cast<unsigned short*>(d_scratch + 256),
          reinterpret_cast<unsigned char*>(d_scratch + 768),
          reinterpret_cast<unsigned long long*>(d_scratch + 1024)};
}

std::size_t scratch_bytes(std::size_t size, int) {
  return 1024 + scan_elements(size) * sizeof(unsigned long long);
}

__global__ void split_table(const std::uint32_t* d_code, const std::uint8_t* d_length, Arrays out) {
  out.values[threadIdx.x] = static_cast<unsigned short>(d_code[threadIdx.x]);
  out.lengths[threadIdx.x] = d_length[threadIdx.x];
}

void prepare(const vle::EncodeCall& call, int threads) {
  check_cuda(cudaMemsetAsync(call.d_scratch, 0, scratch_bytes(call.size, threads)), "zeroing");
  check_cuda(cudaMemsetAsync(call.d_output, 0, call.capacity), "zeroing");
  check_cuda(cudaMemsetAsync(call.d_result, 0, sizeof *call.d_result), "zeroing");
  split_table<<<1, vle::kSymbols>>>(call.d_table->code.data(), call.d_table->length.data(), arrays(call));
  check_launch("split_table");
}

void run(const vle::EncodeCall& call, int) {
  const Arrays own = arrays(call);
  const auto kernel = GVLE_kernel<kThreads>;
  const unsigned blocks = vle::resident_blocks(kernel, kThreads, 0);
  kernel<<<blocks, kThreads>>>(reinterpret_cast<unsigned*>(call.d_output),
                               reinterpret_cast<unsigned*>(const_cast<std::uint8_t*>(call.d_input)),
                               static_cast<unsigned>(call.size), own.values, own.lengths, own.scan,
                               own.counter);
  check_launch("GVLE_kernel");
}

// The last element holds the sum of its segment, or with flag P that of all; the element before the segment
// holds the rest.
__global__ void report_length(const unsigned long long* d_scan, std::uint64_t elements,
                              vle::EncodeResult* d_result) {
  constexpr unsigned long long kSum = (1ull << 57) - 1;
  const std::uint64_t last = elements - 1, before = last / 32 * 32;
  const unsigned long long sum = d_scan[last];
  d_result->bits = (sum & kSum) + (sum >> 63 != 0 || before == 0 ? 0 : d_scan[before - 1] & kSum);
}

void run_and_finish(const vle::EncodeCall& call, int threads) {
  run(call, threads);
  report_length<<<1, 1>>>(arrays(call).scan, block_inputs(call.size), call.d_result);
  launch_swap_words(call);
  check_launch("finishing the authors' stream");
}

}  // namespace

AuthorsEncoder authors_gvle() {
  const vle::PublishedEncoder timed{"gvle_authors", vle::kShortCode, kThreads, kThreads,
                                    scratch_bytes,  prepare,         run};
  vle::PublishedEncoder checked = timed;
  checked.run = run_and_finish;
  return {timed, checked};
}

}  // namespace cu264::bench
