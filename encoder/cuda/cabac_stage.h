// Runs the stages `code` and `pack` of CABAC behind the search, on its stream. Slices that must be coded
// serially, which takes long but little of the device, are left; a batch that has such slices is coded and
// packed beside the search of later batches, on a stream that each batch in flight has for itself. A device
// has eight queues for the streams of a process, unless CUDA_DEVICE_MAX_CONNECTIONS says otherwise, and
// streams that share a queue wait for each other (docs/cabac.md).
#pragma once

#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/batch.h"
#include "encoder/cuda/memory.h"

namespace cu264::encoder::cuda {

class CabacStage {
 public:
  explicit CabacStage(int batches) : batches_(static_cast<std::size_t>(batches)) {}

  // Launches the stages of the batch in `d`, whose slice headers are there.
  static void launch(const BatchView& view, void* cabac_scratch, const DeviceMemory::Batch& d,
                     const Stream& search);
  // Launches what is left of the batch in `d`, the `index`-th of those in flight, if launch() has told
  // kStringsMissing. Returns the stream that its coded pictures come from.
  const Stream& launch_rest(const BatchView& view, const DeviceMemory::Batch& d, int index) const;

  // Waits for all batches. Errors do not matter (~CudaBackend).
  void wait() const;

 private:
  struct InFlight {
    Stream coding{Stream::Priority::high};
  };
  std::vector<InFlight> batches_;
};

}  // namespace cu264::encoder::cuda
