// The offsets of the picture before, which adaptive quantisation remembers, handed from device to device: a
// batch's first picture follows the last one of the batch before, and that batch is on another device. They
// go by way of page-locked memory and of events that streams wait for; the host waits for nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/handles.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

// Several devices share one. One thread launches their batches' offsets, in the batches' order.
class QpOffsetRelay {
 public:
  // `bytes`: relay_bytes().
  explicit QpOffsetRelay(std::size_t bytes) : bytes_(bytes), memory_(allocate_pinned(bytes)) {}

  // On the stream that is about to compute a batch's offsets: d_previous becomes what the last batch left.
  // The first of all keeps what it has.
  void take(std::int8_t* d_previous, const Stream& stream) const {
    if (left_ == nullptr) return;
    stream.wait_for(left_->get());
    check_cuda(cudaMemcpyAsync(d_previous, memory_.get(), bytes_, cudaMemcpyHostToDevice, stream.get()),
               "taking over the QP offsets");
  }

  // On the same stream, behind the offsets. `left` belongs to the stream's device and outlives the relay's
  // use.
  void leave(const std::int8_t* d_previous, const Stream& stream, const Event& left) {
    check_cuda(cudaMemcpyAsync(memory_.get(), d_previous, bytes_, cudaMemcpyDeviceToHost, stream.get()),
               "handing on the QP offsets");
    left.record(stream.get());
    left_ = &left;
  }

 private:
  const std::size_t bytes_;
  const PinnedAllocation memory_;
  const Event* left_ = nullptr;
};

inline std::size_t relay_bytes(const StageParams& params) {
  return static_cast<std::size_t>(params.mb_width) * static_cast<std::size_t>(params.mb_height) *
         static_cast<std::size_t>(params.streams);
}

}  // namespace cu264::encoder::cuda
