// Brings frames to where the kernels read them. Frames from the host are copied to staging memory; frames on
// the device are read in place, except RGB, which is converted. Whoever reads a frame waits for the mark that
// comes with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "core/colour.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/mark.h"
#include "encoder/stream_params.h"

namespace cu264::encoder::cuda {

// Throws Error(bad_input) if a plane is not in the device's memory.
void check_on_device(const Frame& frame, int device);

struct UploadedFrame {
  SourcePicture planes;
  Written written;  // never null
};

class Uploader {
 public:
  // The page-locked memory that it takes with the first frame in pageable memory.
  static std::size_t buffer_bytes(const StreamParams& params);

  // `urgent`: work on stream() goes before other work.
  Uploader(const StreamParams& params, std::uint8_t* d_rgb, int device, bool urgent = false);

  // Returns where the frame's planes will be: in `d_staging`, or where the caller has them. Memory of kind
  // host has been read when this returns; the call waits only while all upload buffers are in use. `written`:
  // as in Backend::submit; such a frame was checked when the mark was made.
  UploadedFrame upload(const Frame& frame, Written written, std::uint8_t* d_staging);

  // Closes the mark of the frames that have been uploaded so far, so that a later wait for them does not
  // include what stream() is given meanwhile.
  void close_mark();

  // The format in which the kernels see pictures of `format`.
  static PixelFormat format_on_device(PixelFormat format);

  const Stream& stream() const { return *stream_; }

 private:
  // The mark of the work that stream_ has, and of what it is given until somebody waits.
  const Written& uploaded();
  SourcePicture copy_pinned(const Frame& frame, std::uint8_t* d_to);
  SourcePicture copy_host(const Frame& frame, std::uint8_t* d_to);
  SourcePicture convert(const Frame& frame, const SourcePicture& rgb, std::uint8_t* d_staging);

  static constexpr int kUploadBuffers = 4;

  // Takes the memory of the buffers, with the first frame that lies in pageable memory.
  void make_buffers();

  const core::ColourMatrix matrix_;
  const std::size_t buffer_bytes_;
  const int device_;
  std::uint8_t* const d_rgb_;
  const std::shared_ptr<const Stream> stream_;
  const Marker marker_;
  Written uploaded_;
  CachedMemory memory_;
  struct UploadBuffer {
    std::uint8_t* memory = nullptr;
    Event copied;
  } buffers_[kUploadBuffers];
  int next_buffer_ = 0;
};

}  // namespace cu264::encoder::cuda
