// Messages between the warps of a block, without barriers: one atomic word holds the message and its number.
#pragma once

#include <cstdint>
#include <cuda/atomic>

namespace cu264::vle::fast {

class Mailbox {
 public:
  static constexpr int kPayloadBits = 48;

  __device__ void clear() { word_ = 0; }
  // Messages are numbered from 0. The sender knows that the message before this one has been taken.
  __device__ void post(std::uint32_t number, std::uint64_t payload) {
    reference().store(tag(number) | payload, cuda::memory_order_relaxed);
  }
  __device__ std::uint64_t take(std::uint32_t number) {
    std::uint64_t word = reference().load(cuda::memory_order_relaxed);
    while ((word ^ tag(number)) >> kPayloadBits) {
      wait();
      word = reference().load(cuda::memory_order_relaxed);
    }
    return word & ((std::uint64_t{1} << kPayloadBits) - 1);
  }

 private:
  __device__ static std::uint64_t tag(std::uint32_t number) {
    return static_cast<std::uint64_t>(number + 1) << kPayloadBits;
  }
  __device__ static void wait() { __nanosleep(20); }
  __device__ cuda::atomic_ref<std::uint64_t, cuda::thread_scope_block> reference() {
    return cuda::atomic_ref<std::uint64_t, cuda::thread_scope_block>(word_);
  }

  std::uint64_t word_;
};

}  // namespace cu264::vle::fast
