// A CUDA context of a caller's own, made by cuCtxCreate, as FFmpeg and GStreamer make theirs. Only the driver
// is called here: the runtime has no part in such a context.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cu264/frame.h"
#include "tests/parity/placed_frames.h"

namespace cu264::parity {

// The context of the calling thread, or null.
CUcontext context_of_thread();

class CallersContext {
 public:
  // Makes a context of device 0 and leaves it current.
  CallersContext();
  // Destroys what was made in it and the context. It must be current.
  ~CallersContext();
  CallersContext(const CallersContext&) = delete;
  CallersContext& operator=(const CallersContext&) = delete;

  CUcontext get() const { return context_; }
  cudaStream_t stream() const { return stream_; }  // one that does not wait for the default stream

  std::uint8_t* allocate(std::size_t bytes);
  // Both return when they are done.
  void upload(std::uint8_t* d_to, const void* from, std::size_t bytes) const;
  std::vector<std::uint8_t> download(const std::uint8_t* d_from, std::size_t bytes) const;
  void synchronise(cudaStream_t stream) const;

  // Copies on the stream once that has been busy with something else for a while.
  void copy_late(std::uint8_t* d_to, const std::uint8_t* d_from, std::size_t bytes,
                 cudaStream_t stream) const;

 private:
  CUcontext context_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<CUdeviceptr> allocations_;
  std::uint8_t* d_delay_ = nullptr;
};

// Frames in memory of such a context, which are written when they are sent.
class ContextClip {
 public:
  ContextClip(CallersContext& context, const std::vector<FramePlanes>& pictures);
  std::size_t size() const { return frames_.size(); }
  // Clears the memory, and returns the frame with the stream that writes it late.
  Frame write(std::size_t i, cudaStream_t stream) const;

 private:
  struct Planes {
    Frame frame;
    std::uint8_t* d_from[3] = {};
    std::size_t bytes[3] = {};
  };
  CallersContext& context_;
  std::vector<Planes> frames_;
  std::vector<std::uint8_t> blank_;
};

}  // namespace cu264::parity
