// The CUDA backend, seen from the session: no CUDA header is needed to ask for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cu264/device.h"
#include "cu264/encoder.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

// One device. `batch` pictures are encoded together. Throws Error(device_unavailable, out_of_memory).
std::unique_ptr<Backend> open_device(const StageParams& params, int device, int batch);

// Several devices that take batches in turn; with one it is open_device. `batch`, if it was 0, and `devices`, if it was
// empty, become what was chosen.
std::unique_ptr<Backend> open_cuda_backend(const StageParams& params, std::vector<int>& devices, int& batch);

// As cu264::memory_required and cu264::cuda_devices.
MemoryRequirement memory_required(const StageParams& params, const std::vector<int>& devices);
std::vector<DeviceInfo> list_devices();

}  // namespace cu264::encoder::cuda
