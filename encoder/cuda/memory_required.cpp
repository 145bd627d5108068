// The memory that an encoder takes, which each part of it reports for itself.
#include "common/cuda/handles.h"
#include "common/cuda/kernel_shared_memory.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/batch_size.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/probe_device.h"
#include "encoder/cuda/qp_offset_relay.h"
#include "encoder/cuda/uploader.h"
#include "encoder/pictures_held.h"

namespace cu264::encoder::cuda {
namespace {

// The most that a backend takes on one of the devices. Only the memory for edge detection differs between
// them.
MemoryRequirement memory_of_backend_on(const std::vector<int>& devices, const StreamParams& params,
                                       int batch) {
  if (!params.decisions.edge_detector) return memory_of_backend(params, batch);
  MemoryRequirement most;
  for (const int device : devices) {
    probe_device(device);
    const DeviceGuard guard(device);
    const MemoryRequirement required = memory_of_backend(params, batch);
    if (required.device > most.device) most = required;
  }
  return most;
}

}  // namespace

MemoryRequirement memory_required(const StreamParams& params, const std::vector<int>& devices) {
  const int batch = params.execution.batch != 0 ? params.execution.batch : choose_batch(params, devices);
  const auto backends = static_cast<std::size_t>(overlapping_batches(params, batch));
  const MemoryRequirement backend = memory_of_backend_on(devices, params, batch);
  const MemoryRequirement analyser =
      memory_of_analyser(params, batch, static_cast<int>(backends), static_cast<int>(devices.size()));
  MemoryRequirement required;
  required.batch = batch;
  required.device = piece_bytes(backend.device) * backends + analyser.device;
  required.pinned = piece_bytes(backend.pinned) * backends + analyser.pinned;
  // An analyser is the one that uploads.
  if (!analyses_pictures(params)) required.pinned += piece_bytes(Uploader::buffer_bytes(params)) * backends;
  if (params.decisions.aq && params.decisions.aq->remembers && devices.size() * backends > 1)
    required.pinned += relay_bytes(params);
  return required;
}

void release_cached_memory() {
  release_memory_cache();
  forget_shared_memory_settings();
  forget_primary_contexts();
}

}  // namespace cu264::encoder::cuda
