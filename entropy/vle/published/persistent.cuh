// Tools of the encoders that have one persistent kernel: scratch, preparation, tickets and launch.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cuda/atomic>

#include "common/cuda/error_check.h"
#include "entropy/vle/published/output_words.cuh"
#include "entropy/vle/published/published_encoders.h"
#include "entropy/vle/published/shared_tables.cuh"
#include "entropy/vle/resident_blocks.cuh"
#include "entropy/vle/thread_inputs.cuh"

namespace cu264::vle {

// The block-inputs of a block. They are taken by ticket, so that a block waits only for blocks that have
// begun (YAVLE, step 2).
class BlockInputs {
 public:
  __device__ BlockInputs(std::uint32_t* d_ticket, std::uint32_t& s_ticket)
      : d_ticket_(d_ticket), s_ticket_(s_ticket) {}

  __device__ std::uint32_t first() {
    request();
    return next();
  }
  // Requests the next ticket, which takes time to arrive. Other blocks may soon wait for the block-input of
  // that ticket.
  __device__ void request() {
    if (threadIdx.x != 0) return;
    requested_ = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*d_ticket_)
                     .fetch_add(1, cuda::memory_order_relaxed);
  }
  // All threads must call this, with another barrier between two calls.
  __device__ std::uint32_t next() {
    if (threadIdx.x == 0) s_ticket_ = requested_;
    __syncthreads();
    return s_ticket_;
  }

 private:
  std::uint32_t* d_ticket_;
  std::uint32_t& s_ticket_;
  std::uint32_t requested_ = 0;  // valid in thread 0
};

template <int kSpan, class Scan>
struct KernelCall {
  ThreadInputs<kSpan> inputs;
  DeviceTable table;
  OutputWords output;
  EncodeResult* d_result;
  std::uint32_t* d_ticket;
  typename Scan::State* d_scan;
  std::uint32_t block_inputs;
};

// Called by any thread that has found a symbol without a code.
template <class Call>
__device__ void report_missing(const Call& call) {
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(call.d_result->missing)
      .store(1, cuda::memory_order_relaxed);
}

// Called by all threads, which know where their block's code ends.
template <class Call>
__device__ void report_length(const Call& call, std::uint32_t block_input, std::uint64_t block_end) {
  if (threadIdx.x == 0 && block_input + 1 == call.block_inputs) call.d_result->bits = block_end;
}

// Bytes of the ticket, which the scan's state follows. Both are zeroed before each run.
inline constexpr std::size_t kTicketBytes = 256;

template <int kSpan, class Scan>
std::size_t persistent_scratch_bytes(std::size_t size, int threads) {
  const std::uint64_t block_inputs = ThreadInputs<kSpan>::most(size) / threads + 1;
  return kTicketBytes + Scan::state_count(block_inputs) * sizeof(typename Scan::State);
}

// The bytes of the output that an encoder may touch.
inline std::size_t output_bound(const EncodeCall& call, int longest_code) {
  const std::uint64_t most = (call.size * static_cast<std::uint64_t>(longest_code) / 8 + 3) / 4 * 4;
  return std::min<std::uint64_t>(most, call.capacity / 4 * 4);
}

inline void zero(void* d_memory, std::size_t bytes, const EncodeCall& call) {
  if (bytes == 0) return;
  check_cuda(cudaMemsetAsync(d_memory, 0, bytes, static_cast<cudaStream_t>(call.stream)),
             "zeroing device memory");
}

template <int kSpan, class Scan, int kMaxCodeLength>
void prepare_persistent(const EncodeCall& call, int threads) {
  zero(call.d_result, sizeof(EncodeResult), call);
  if (call.size == 0) return;
  zero(call.d_scratch, persistent_scratch_bytes<kSpan, Scan>(call.size, threads), call);
  zero(call.d_output, output_bound(call, kMaxCodeLength), call);
}

// Launches as many blocks as the device holds at once (CUVLE III.B), or fewer if there is less to do.
template <int kSpan, class Scan>
void launch_persistent(void (*kernel)(KernelCall<kSpan, Scan>), const char* name, const EncodeCall& call,
                       int threads, std::size_t shared_bytes = 0) {
  const ThreadInputs<kSpan> inputs(call.d_input, call.size);
  if (inputs.count() == 0) return;
  const std::uint64_t block_inputs = (inputs.count() + threads - 1) / threads;
  const auto grid = static_cast<unsigned>(
      std::min<std::uint64_t>(block_inputs, resident_blocks(kernel, threads, shared_bytes)));
  std::byte* const d_scratch = static_cast<std::byte*>(call.d_scratch);
  const KernelCall<kSpan, Scan> arguments{inputs,
                                          DeviceTable(call.d_table),
                                          OutputWords(call.d_output, call.capacity),
                                          call.d_result,
                                          reinterpret_cast<std::uint32_t*>(d_scratch),
                                          reinterpret_cast<typename Scan::State*>(d_scratch + kTicketBytes),
                                          static_cast<std::uint32_t>(block_inputs)};
  kernel<<<grid, threads, shared_bytes, static_cast<cudaStream_t>(call.stream)>>>(arguments);
  check_launch(name);
}

// An encoder of one persistent kernel, with the thread blocks of YAVLE and GVLE.
template <int kSpan, class Scan, int kMaxCodeLength>
constexpr PublishedEncoder persistent_encoder(const char* name,
                                              void (*run)(const EncodeCall& call, int threads)) {
  return {name,
          kMaxCodeLength,
          128,
          1024,
          persistent_scratch_bytes<kSpan, Scan>,
          prepare_persistent<kSpan, Scan, kMaxCodeLength>,
          run};
}

}  // namespace cu264::vle
