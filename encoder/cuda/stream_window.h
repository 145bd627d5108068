// How the host reads the coded stream of a batch: through a window of page-locked memory that holds a part of
// the stream at a time. One copy fetches the stream of most batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/memory.h"

namespace cu264::encoder::cuda {

class StreamWindow {
 public:
  // `d_stream` is the stream in device memory, `window` page-locked memory of `window_bytes` bytes. `yields`:
  // as in Event.
  StreamWindow(const std::uint8_t* d_stream, std::uint8_t* window, std::size_t window_bytes, bool yields)
      : d_stream_(d_stream), window_(window), window_bytes_(window_bytes), downloaded_(yields) {}

  // A new batch is about to write the stream.
  void reset() { begin_ = end_ = 0; }

  // Fetches the beginning of the stream before its size is known, on the stream that encodes: as many bytes
  // as the previous batch took and a quarter more. For a single picture that costs less than a second copy.
  void fetch_ahead(const Stream& encode);

  // The stream has `bytes` bytes. Returns whether the window holds them all.
  bool has_all_of(std::uint64_t bytes) {
    stream_bytes_ = bytes;
    return bytes <= end_;
  }

  // Moves the window to `begin` of the stream; it holds those bytes once downloaded() is done.
  void fetch(std::uint64_t begin, const Stream& download);
  const Event& downloaded() const { return downloaded_; }

  // The bytes of a picture. Moves the window, and waits, where they are not in it.
  std::vector<std::uint8_t> bytes_of(const entropy::PackedPicture& picture, const Stream& download);

 private:
  const std::uint8_t* const d_stream_;
  std::uint8_t* const window_;
  const std::size_t window_bytes_;
  std::uint64_t stream_bytes_ = 0;  // of the last batch whose size is known
  std::uint64_t begin_ = 0;         // the part of the stream that is in the window
  std::uint64_t end_ = 0;
  Event downloaded_;
};

}  // namespace cu264::encoder::cuda
