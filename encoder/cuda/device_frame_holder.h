// The frame holder of the CUDA backend: frames from the host are copied to page-locked memory, and frames on
// the device are marked with an event.
#pragma once

#include <memory>

#include "encoder/frame_holder.h"

namespace cu264::encoder::cuda {

std::unique_ptr<FrameHolder> make_device_frame_holder(int device);

}  // namespace cu264::encoder::cuda
