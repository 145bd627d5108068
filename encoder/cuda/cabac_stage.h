// Runs the stages `code` and `pack` of CABAC. Binarisation and the arithmetic coder that is parallel inside
// slices follow the search on its stream. The serial coder, which takes long but little of the device, and
// the packer run beside the search, on a stream that each batch in flight has for itself. A device has eight
// queues for the streams of a process, unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise, and streams that
// share a queue wait for each other (docs/cabac.md).
#pragma once

#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/batch.h"
#include "encoder/cuda/memory.h"

namespace cu264::encoder::cuda {

class CabacStage {
 public:
  explicit CabacStage(int batches) : batches_(static_cast<std::size_t>(batches)) {}

  // Launches the stages of the batch in `d`, the `index`-th of those in flight, whose slice headers are
  // there. Returns the stream that its coded pictures come from. What is on `search` before is done when they
  // are.
  const Stream& launch(const BatchView& view, void* cabac_scratch, const DeviceMemory::Batch& d, int index,
                       const Stream& search);

  // Waits for all batches. Errors do not matter (~CudaBackend).
  void wait() const;

 private:
  struct InFlight {
    Stream coding{Stream::Priority::high};
    Event binarised;
  };
  std::vector<InFlight> batches_;
};

}  // namespace cu264::encoder::cuda
