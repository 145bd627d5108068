// The CUDA backend as the session sees it. This header needs no header of CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cu264/device.h"
#include "cu264/encoder.h"
#include "encoder/backend.h"
#include "encoder/frame_holder.h"
#include "encoder/rate_control/analyser.h"

namespace cu264::encoder::cuda {

class QpOffsetRelay;

// Opens one device that encodes `batch` pictures together. Devices of a group share a relay if adaptive
// quantisation is on. Throws Error(device_unavailable, out_of_memory).
std::unique_ptr<Backend> open_device(const StreamParams& params, int device, int batch,
                                     std::shared_ptr<QpOffsetRelay> relay = nullptr);

// Opens backends of the devices, which take batches in turn.
std::unique_ptr<Backend> open_devices(const StreamParams& params, const std::vector<int>& devices, int batch);

// Its frames are on the device, where up to `together` of them are measured together. With several devices
// there is one analyser, on the first device, which returns frames from the host in pinned memory
// (`stays_on_host`).
std::unique_ptr<Analyser> make_device_analyser(const StreamParams& params, int device, int together = 1,
                                               bool stays_on_host = false);
// The memory that it takes, with the frames that the pipeline holds ahead of this many backends on each
// device; nothing if QPs are constant.
MemoryRequirement memory_of_analyser(const StreamParams& params, int batch, int backends, int devices);

// Copies frames from the host to page-locked memory, and marks frames on the device with an event.
std::unique_ptr<FrameHolder> make_device_frame_holder(int device);

// Probes the devices and returns how many pictures one of them should have at once: Execution::batch or, if
// that is 0, the number that suits the weakest device.
int pictures_of_devices(const StreamParams& params, const std::vector<int>& devices);

// The same for the batches of open_devices(), of which a device may have several at once.
int choose_batch(const StreamParams& params, const std::vector<int>& devices);

// The implementations of functions of the API.
MemoryRequirement memory_required(const StreamParams& params, const std::vector<int>& devices);
std::vector<DeviceInfo> list_devices();
void release_cached_memory();

// For example "NVIDIA H200".
std::string device_name(int device);
// The same for a device that may not be usable. Throws Error(device_unavailable).
std::string probed_device_name(int device);

}  // namespace cu264::encoder::cuda
