// Frames in device memory that are written some time after they were sent.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "cu264/frame.h"
#include "tests/parity/placed_frames.h"

namespace cu264::parity {

// The caller's streams, in the order of their being CUDA's own or made.
enum class LateStream { by_default, legacy, per_thread, blocking, non_blocking };
inline constexpr LateStream kLateStreams[] = {LateStream::by_default, LateStream::legacy,
                                              LateStream::per_thread, LateStream::blocking,
                                              LateStream::non_blocking};
const char* name_of(LateStream stream);

// Writes frames on a stream of a device, which is current whenever it writes or changes the stream.
class LateWriter {
 public:
  LateWriter(LateStream kind, int device);
  ~LateWriter();
  LateWriter(const LateWriter&) = delete;
  LateWriter& operator=(const LateWriter&) = delete;

  // Copies `from` to `to`, both in device memory and of the same layout. If `late`, the stream is busy with
  // something else for a while, and the copy comes after that; otherwise it is done when this returns.
  // Returns the frame to send: `to`, with the stream that writes it.
  Frame write(const Frame& to, const Frame& from, bool late) const;

  // Another stream may be given the handle of this one, which is destroyed.
  void change_stream();

 private:
  void make_stream();

  const LateStream kind_;
  const int device_;
  cudaStream_t stream_ = nullptr;
};

// Makes the frame's planes zero, when everything on the device is done.
void blank(const Frame& frame);

}  // namespace cu264::parity
