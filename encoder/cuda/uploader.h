// Brings frames to where the kernels read them: from the host into staging memory, in place if they are there
// already.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/handles.h"
#include "core/colour.h"
#include "encoder/cuda/memory.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

class Uploader {
 public:
  Uploader(const StageParams& params, const PinnedMemory& pinned, std::uint8_t* d_rgb, int device);

  // Where the frame's planes will be once stream() has come here: in `d_staging`, or where the caller has
  // them. Reads memory of kind host before it returns, and waits only while all upload slots are on their
  // way.
  SourcePicture upload(const Frame& frame, std::uint64_t index, std::uint8_t* d_staging);

  // What pictures of a format look like to the kernels.
  static PixelFormat format_on_device(PixelFormat format);

  const Stream& stream() const { return stream_; }

 private:
  void check_device(const Frame& frame, std::uint64_t index) const;
  SourcePicture copy_pinned(const Frame& frame, std::uint8_t* d_to) const;
  SourcePicture copy_host(const Frame& frame, std::uint8_t* d_to);
  SourcePicture convert(const Frame& frame, const SourcePicture& rgb, std::uint8_t* d_staging) const;

  const core::ColourMatrix matrix_;
  const int device_;
  std::uint8_t* const d_rgb_;
  Stream stream_;
  Event caller_;  // what the caller's stream had to do when the frame was sent
  struct Slot {
    std::uint8_t* memory = nullptr;
    Event copied;
  } slots_[kUploadSlots];
  int next_slot_ = 0;
};

}  // namespace cu264::encoder::cuda
