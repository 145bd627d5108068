// The offsets of the picture before, which the guide remembers, handed from device to device: a batch's first
// picture follows the last one of the batch before, and that batch is on another device. They go by way of
// page-locked memory and of events that streams wait for; the host waits for nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encoder/cuda/handles.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

// Of several devices together, which launch the guides of their batches in the batches' order, one thread.
class GuideRelay {
 public:
  // `bytes`: relay_bytes().
  explicit GuideRelay(std::size_t bytes) : bytes_(bytes), memory_(allocate_pinned(bytes)) {}

  // On the stream that is about to compute a batch's offsets: d_previous becomes what the last batch left.
  // The first of all keeps what it has.
  void take(std::int8_t* d_previous, const Stream& stream) const {
    if (left_ == nullptr) return;
    stream.wait_for(left_->get());
    check(cudaMemcpyAsync(d_previous, memory_.get(), bytes_, cudaMemcpyHostToDevice, stream.get()),
          "taking the guide's offsets over");
  }

  // On the same stream, behind the offsets. `left` belongs to the stream's device and outlives the relay's
  // use.
  void leave(const std::int8_t* d_previous, const Stream& stream, const Event& left) {
    check(cudaMemcpyAsync(memory_.get(), d_previous, bytes_, cudaMemcpyDeviceToHost, stream.get()),
          "handing the guide's offsets on");
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
