// How the host reads the coded stream of a batch: through a window of page-locked memory that holds a part of
// the stream at a time. Page-locked memory is expensive to allocate, so the window is small: it has four
// quarters, and while the host reads one, the next parts of the stream are copied into the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/device_layout.h"

namespace cu264::encoder::cuda {

class StreamWindow {
 public:
  // `d_stream` is the stream in device memory, `window` page-locked memory of `window_bytes` bytes, a
  // multiple of kParts. `yields`: as in Event.
  StreamWindow(const std::uint8_t* d_stream, std::uint8_t* window, std::size_t window_bytes, bool yields)
      : d_stream_(d_stream),
        window_(window),
        part_bytes_(window_bytes / kParts),
        copied_{Event(yields), Event(yields), Event(yields), Event(yields)} {}

  // A new batch is about to write the stream.
  void reset() { fetched_ = 0; }

  // Fetches the beginning of the stream before its size is known: as many bytes as the previous batch took
  // and a quarter more. Records `begun` when the first part is in the window.
  void fetch_ahead(const Stream& stream, const Event& begun);

  // Tells how many bytes the stream has.
  void set_size(std::uint64_t bytes) { stream_bytes_ = bytes; }
  // Tells whether the first `bytes` bytes are in the window or on their way.
  bool fetches(std::uint64_t bytes) const { return bytes <= fetched_; }

  // Fills the free part of the window. What comes next is there once first_part() is done.
  void fetch_first(const Stream& download);
  const Event& first_part() const { return copied_[first_]; }

  // Returns up to where the stream from byte `at` on is in the window or on its way, or an earlier byte.
  std::uint64_t readable_from(std::uint64_t at) const {
    return std::min(fetched_, (at / part_bytes_ + 1) * part_bytes_);
  }
  // Appends bytes of the stream that are in the window or on their way, and waits for the latter. Several
  // threads may do this at once, even while others fetch later parts.
  void append(std::uint64_t from, std::uint64_t to, std::vector<std::uint8_t>& bytes) const;
  // The bytes before `end` have been read: fetches what takes their place.
  void release(std::uint64_t end, const Stream& download);

 private:
  static constexpr int kParts = 4;

  // Fetches from fetched_ on, up to the end of the part or to byte `end` of the stream.
  void fetch_part(std::uint64_t end, const Stream& stream);
  const Event& copied(std::uint64_t part) const { return copied_[part % kParts]; }

  const std::uint8_t* const d_stream_;
  std::uint8_t* const window_;
  const std::uint64_t part_bytes_;
  std::uint64_t stream_bytes_ = 0;  // of the last batch whose size is known
  std::uint64_t fetched_ = 0;       // bytes of the stream whose copies were enqueued
  Event copied_[kParts];            // the last copy into each part of the window
  int first_ = 0;
};

}  // namespace cu264::encoder::cuda
