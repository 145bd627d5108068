// A frame on its way to the stages, with everything that its readers need to know about its memory.
#pragma once

#include <memory>

#include "cu264/frame.h"

namespace cu264::encoder {

namespace cuda {
class Mark;  // encoder/cuda/mark.h
}

// Tells when a frame in device memory has been written. It accompanies the frame from whoever took it from
// its caller to whoever reads it. Null for frames in host memory, which have been written by the time they
// are sent.
using Written = std::shared_ptr<const cuda::Mark>;

struct HeldFrame {
  Frame frame;
  // Null for a frame in device memory means that the frame is read after the work that Frame::stream has now,
  // and that the thread that submits it is the one that sends it.
  Written written = nullptr;
  std::shared_ptr<void> hold = nullptr;  // keeps the frame's memory; null: its caller does
};

}  // namespace cu264::encoder
