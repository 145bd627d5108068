#include "encoder/cuda/cabac_stage.h"

#include <cstdlib>
#include "entropy/cabac/cabac_batch.h"

namespace cu264::encoder::cuda {

const Stream& CabacStage::launch(const BatchView& view, void* cabac_scratch, const DeviceMemory::Batch& d,
                                 int index, const Stream& search) {
  const InFlight& batch = batches_[static_cast<std::size_t>(index)];
  const entropy::CabacMemory memory{cabac_scratch, d.cabac_work};
  entropy::launch_cabac_items(view, memory, search.get());
  if (std::getenv("CU264_X_PACK") != nullptr) {
    entropy::launch_cabac_strings(view, d.slice_headers, memory, d.pictures, search.get());
    return search;
  }
  batch.binarised.record(search.get());
  batch.coding.wait_for(batch.binarised.get());
  entropy::launch_cabac_strings(view, d.slice_headers, memory, d.pictures, batch.coding.get());
  return batch.coding;
}

void CabacStage::wait() const {
  for (const InFlight& batch : batches_) cudaStreamSynchronize(batch.coding.get());
}

}  // namespace cu264::encoder::cuda
