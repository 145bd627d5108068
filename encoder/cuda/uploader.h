// Brings frames to where the kernels read them. Frames from the host are copied to staging memory; frames on
// the device are read in place, but for RGB, which is converted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "core/colour.h"
#include "encoder/cuda/memory.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

// Throws Error(bad_input) if a plane is not in the device's memory.
void check_on_device(const Frame& frame, int device);

class Uploader {
 public:
  // `urgent`: what is launched on stream() goes before other work.
  Uploader(const StageParams& params, std::uint8_t* d_rgb, int device, bool urgent = false);

  // Returns where the frame's planes will be for what follows join(): in `d_staging`, or where the caller has
  // them. Memory of kind host has been read when this returns; it waits only while all upload
  // buffers are in use. `written`: as in Backend::submit; such a frame was checked when the event was
  // recorded.
  SourcePicture upload(const Frame& frame, void* written, std::uint8_t* d_staging);

  // The format in which the kernels see pictures of `format`.
  static PixelFormat format_on_device(PixelFormat format);

  // What is put into `encode` from now on finds the frames that were uploaded.
  void join(const Stream& encode);

  const Stream& stream() const { return stream_; }

 private:
  // Makes stream_ wait for the frame.
  void wait_for(const Frame& frame, void* written);
  SourcePicture copy_pinned(const Frame& frame, std::uint8_t* d_to);
  SourcePicture copy_host(const Frame& frame, std::uint8_t* d_to);
  SourcePicture convert(const Frame& frame, const SourcePicture& rgb, std::uint8_t* d_staging);

  // Takes the memory of the buffers, with the first frame that lies in pageable memory.
  void make_buffers();

  const core::ColourMatrix matrix_;
  const std::size_t buffer_bytes_;
  const int device_;
  std::uint8_t* const d_rgb_;
  Stream stream_;
  Event caller_;                // recorded on the caller's stream when the frame was sent
  Event default_;               // the same on CUDA's default stream, where one wait serves many frames
  bool default_waits_ = false;  // default_ was recorded and nothing waits for it yet
  Event uploaded_;
  bool used_ = false;  // stream_ has work since the last join()
  CachedMemory memory_;
  struct UploadBuffer {
    std::uint8_t* memory = nullptr;
    Event copied;
  } buffers_[kUploadBuffers];
  int next_buffer_ = 0;
};

}  // namespace cu264::encoder::cuda
