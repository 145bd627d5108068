// Hands the QP offsets that adaptive quantisation remembers from backend to backend. The first picture of a
// batch needs those of the last picture of the previous batch, which another backend has, often on another
// device. The offsets are copied through page-locked memory, and streams wait for events; the host never
// waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/stream_params.h"

namespace cu264::encoder::cuda {

// Several backends share one relay. A single thread launches the offsets of their batches, in the order of
// the batches.
class QpOffsetRelay {
 public:
  // `bytes` is relay_bytes().
  explicit QpOffsetRelay(std::size_t bytes) : bytes_(bytes), memory_(take_pinned(bytes)) {}

  std::size_t bytes() const { return bytes_; }

  // Copies what the previous batch has left to d_previous, on the stream that is about to compute a batch's
  // offsets. For the very first batch d_previous stays as it is.
  void take(std::int8_t* d_previous, const Stream& stream) const {
    if (left_ == nullptr) return;
    stream.wait_for(left_->get());
    check_cuda(cudaMemcpyAsync(d_previous, memory_.get(), bytes_, cudaMemcpyHostToDevice, stream.get()),
               "taking over the QP offsets");
  }

  // Leaves the offsets for the next batch, on the same stream, after they have been computed. `left` must
  // belong to the stream's device and outlive the use of the relay.
  void leave(const std::int8_t* d_previous, const Stream& stream, const Event& left) {
    check_cuda(cudaMemcpyAsync(memory_.get(), d_previous, bytes_, cudaMemcpyDeviceToHost, stream.get()),
               "handing on the QP offsets");
    left.record(stream.get());
    left_ = &left;
  }

 private:
  const std::size_t bytes_;
  const CachedMemory memory_;
  const Event* left_ = nullptr;
};

inline std::size_t relay_bytes(const StreamParams& params) {
  return static_cast<std::size_t>(params.format.mb_width) *
         static_cast<std::size_t>(params.format.mb_height) *
         static_cast<std::size_t>(params.execution.streams);
}

}  // namespace cu264::encoder::cuda
