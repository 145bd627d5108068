// Frames of C programs.
#pragma once

#include "cu264/cu264.h"
#include "cu264/frame.h"

namespace cu264::capi {

Frame frame_of(const cu264_frame* frame);

}  // namespace cu264::capi
