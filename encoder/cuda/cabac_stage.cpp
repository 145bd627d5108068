#include "encoder/cuda/cabac_stage.h"

#include "entropy/cabac/cabac_batch.h"

namespace cu264::encoder::cuda {

const Stream& CabacStage::launch(const BatchView& view, void* cabac_scratch, const DeviceMemory::Batch& d,
                                 int index, const Stream& search) {
  const Stream& coding = streams_[static_cast<std::size_t>(index) % streams_.size()];
  const Event& binarised = binarised_[static_cast<std::size_t>(index)];
  const entropy::CabacMemory memory{cabac_scratch, d.cabac_work};
  entropy::launch_cabac_items(view, memory, search.get());
  binarised.record(search.get());
  coding.wait_for(binarised.get());
  entropy::launch_cabac_strings(view, d.slice_headers, memory, d.pictures, coding.get());
  return coding;
}

void CabacStage::wait() const {
  for (const Stream& stream : streams_) cudaStreamSynchronize(stream.get());
}

}  // namespace cu264::encoder::cuda
