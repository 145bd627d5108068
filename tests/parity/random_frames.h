// The frames of a random case: they lie where the case says, and are written when it says.
#pragma once

#include <memory>
#include <vector>

#include "cu264/frame.h"
#include "tests/parity/placed_frames.h"
#include "tests/parity/random_case.h"

namespace cu264::parity {

class FrameSource {
 public:
  // on_device: for the CUDA backend; the CPU backend reads host memory, whatever the placement says.
  FrameSource(const RandomClip& clip, const FramePlacement& placement, bool on_device);
  ~FrameSource();

  // Frame i of the clip. Its memory is written, or about to be written, and stays as it is until this object
  // is destroyed.
  Frame frame(int i);

 private:
  const RandomClip& clip_;
  bool late_ = false;
  void* stream_ = nullptr;
  bool owns_stream_ = false;
  std::vector<FramePlanes> planes_;
  std::vector<PlacedFrame> pictures_;
  std::vector<PlacedFrame> written_late_;  // by frame
};

}  // namespace cu264::parity
