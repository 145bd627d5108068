// The CUDA backend, seen from the session: no CUDA header is needed to ask for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cu264/device.h"
#include "cu264/encoder.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

class QpOffsetRelay;

// One device that works, and `batch` pictures encoded together; with others, and adaptive quantisation, their
// relay. Throws Error(device_unavailable, out_of_memory).
std::unique_ptr<Backend> open_device(const StageParams& params, int device, int batch,
                                     std::shared_ptr<QpOffsetRelay> relay = nullptr);

// Devices that take batches in turn.
std::unique_ptr<Backend> open_devices(const StageParams& params, const std::vector<int>& devices, int batch);

// Tries the devices, and chooses what suits the weakest of them unless StageParams::batch says it.
int choose_batch(const StageParams& params, const std::vector<int>& devices);

// As cu264::memory_required and cu264::cuda_devices.
MemoryRequirement memory_required(const StageParams& params, const std::vector<int>& devices);
std::vector<DeviceInfo> list_devices();

// "NVIDIA H200"
std::string device_name(int device);

}  // namespace cu264::encoder::cuda
