// How the host reads the coded stream of a batch: through a window of page-locked memory that holds a part of
// the stream at a time. Page-locked memory is dear to make, so the window is small: it has two halves, and
// while the host reads one, the next part of the stream is copied into the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/memory.h"

namespace cu264::encoder::cuda {

class StreamWindow {
 public:
  // `d_stream` is the stream in device memory, `window` page-locked memory of `window_bytes` bytes, an even
  // number. `yields`: as in Event.
  StreamWindow(const std::uint8_t* d_stream, std::uint8_t* window, std::size_t window_bytes, bool yields)
      : d_stream_(d_stream),
        window_(window),
        half_bytes_(window_bytes / 2),
        copied_{Event(yields), Event(yields)} {}

  // A new batch is about to write the stream.
  void reset() { fetched_ = 0; }

  // Fetches the beginning of the stream before its size is known, on the stream that encodes: as many bytes
  // as the previous batch took and a quarter more. For a single picture that costs less than a second copy.
  void fetch_ahead(const Stream& encode);

  // The stream has `bytes` bytes. Returns whether the window holds them all.
  bool has_all_of(std::uint64_t bytes) {
    stream_bytes_ = bytes;
    return bytes <= fetched_;
  }

  // Fills what is free of the window; the first pictures are there once first_part() is done.
  void fetch_first(const Stream& download);
  const Event& first_part() const { return copied_[first_]; }

  // The bytes of a picture. Pictures are read in their order, once each. Waits where they are not in the
  // window yet, and fetches the next part of the stream whenever a half was read.
  std::vector<std::uint8_t> bytes_of(const entropy::PackedPicture& picture, const Stream& download);

 private:
  // Fetches what the part of the stream that belongs into a half has beyond fetched_.
  void fetch_part(const Stream& download);

  const std::uint8_t* const d_stream_;
  std::uint8_t* const window_;
  const std::uint64_t half_bytes_;
  std::uint64_t stream_bytes_ = 0;  // of the last batch whose size is known
  std::uint64_t fetched_ = 0;       // bytes of the stream whose copies were enqueued
  Event copied_[2];                 // the last copy into each half
  int first_ = 0;
};

}  // namespace cu264::encoder::cuda
