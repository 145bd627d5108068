// Work of this package itself on CUDA devices: streams on which it waits for a caller's work, and copies of
// frames that the caller is going to overwrite. The current device stays the caller's.
#pragma once

#include <cstdint>
#include <memory>

#if defined(CU264_WITH_CUDA)
#include "common/cuda/contexts.h"
#endif

namespace cu264::python {

// Makes the primary context of a device the thread's current one, and afterwards the one before again.
#if defined(CU264_WITH_CUDA)
using CurrentDevice = DeviceGuard;
#else
class CurrentDevice {
 public:
  explicit CurrentDevice(int device);
  ~CurrentDevice();
};
#endif

// A stream of this package's own on a device; the same for all calls.
void* stream_of(int device);

// What is put into `stream` from now on waits for the work that `other` has now. Both are of the device;
// `other` may be one of CUDA's default streams, and of any context.
void wait_for_stream(void* stream, void* other, int device);

// The device whose memory an address lies in.
int device_of(const void* address);

// A buffer on a device, ordered by `stream`.
std::shared_ptr<std::uint8_t> allocate_on_device(std::size_t bytes, int device, void* stream);
void copy_rows(std::uint8_t* d_to, std::int64_t to_pitch, const std::uint8_t* d_from, std::int64_t from_pitch,
               std::int64_t row_bytes, std::int64_t rows, int device, void* stream);
void synchronise(int device, void* stream);
// Returns when the bytes are there.
void copy_to_host(void* to, const void* d_from, std::size_t bytes, int device, void* stream);

}  // namespace cu264::python
