#include "encoder/cuda/cabac_stage.h"

#include "entropy/cabac/cabac_batch.h"

namespace cu264::encoder::cuda {

void CabacStage::launch(const BatchView& view, void* cabac_scratch, const DeviceMemory::Batch& d,
                        const Stream& search) {
  const entropy::CabacMemory memory{cabac_scratch, d.cabac_work};
  entropy::launch_cabac_items(view, memory, search.get());
  entropy::launch_cabac_pack(view, d.slice_headers, memory, d.pictures, search.get());
}

const Stream& CabacStage::launch_rest(const BatchView& view, const DeviceMemory::Batch& d, int index) const {
  const Stream& coding = batches_[static_cast<std::size_t>(index)].coding;
  entropy::launch_cabac_strings(view, d.slice_headers, {nullptr, d.cabac_work}, d.pictures, coding.get());
  return coding;
}

void CabacStage::wait() const {
  for (const InFlight& batch : batches_) cudaStreamSynchronize(batch.coding.get());
}

}  // namespace cu264::encoder::cuda
