// Keeps frames that wait for their batch, so that their callers can go on.
#pragma once

#include <memory>

#include "cu264/frame.h"
#include "encoder/held_frame.h"

namespace cu264::encoder {

class FrameHolder {
 public:
  virtual ~FrameHolder() = default;
  // Any number of threads may call this at once. Frames in host memory are copied. Throws Error(bad_input)
  // for a frame that is not on the holder's device. Holds may outlive the holder.
  virtual HeldFrame hold(const Frame& frame) = 0;
};

std::unique_ptr<FrameHolder> make_host_frame_holder();

}  // namespace cu264::encoder
