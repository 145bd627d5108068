// A frame on its way to the stages, with all that those who read it need to know of its memory.
#pragma once

#include <memory>

#include "cu264/frame.h"

namespace cu264::encoder {

namespace cuda {
class Mark;  // encoder/cuda/mark.h
}

// When a frame in device memory has been written: a value that goes with the frame, from whoever took it from
// its caller to whoever reads it. Null for frames in host memory, which have been written when they are sent.
using Written = std::shared_ptr<const cuda::Mark>;

struct HeldFrame {
  Frame frame;
  // Null for a frame in device memory: the frame is read after the work that Frame::stream has now, and the
  // thread that submits it is the one that sends it.
  Written written = nullptr;
  std::shared_ptr<void> hold = nullptr;  // keeps the frame's memory; null: its caller does
};

}  // namespace cu264::encoder
