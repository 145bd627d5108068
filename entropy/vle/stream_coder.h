// Files and pipes to containers and back: segments that are read, coded and written side by side.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cu264/vle.h"
#include "entropy/vle/segment.h"

namespace cu264::vle {

// Memory of one segment for what is read, or for what is written: it grows to what it is asked for.
class SegmentMemory {
 public:
  std::span<std::uint8_t> take(SegmentCoder& coder, std::size_t size);

 private:
  HostMemory memory_;
  std::size_t capacity_ = 0;
};

// One segment in flight.
struct SegmentSlot {
  std::unique_ptr<SegmentCoder> coder;
  SegmentMemory from, to;

  std::span<std::uint8_t> take_from(std::size_t size) { return from.take(*coder, size); }
  std::span<std::uint8_t> take_to(std::size_t size) { return to.take(*coder, size); }
};

// The coders of a stream, all of one backend.
class SegmentSlots {
 public:
  // `count` at most. Throws Error(device_unavailable) where CUDA is asked for and cannot be had.
  SegmentSlots(const StreamOptions& options, std::size_t count);

  std::size_t size() const { return slots_.size(); }
  // In turn; each is opened when it is first needed. Not for two threads at once.
  SegmentSlot& next();
  const std::string& backend() const { return backend_; }
  const std::string& reason() const { return reason_; }

 private:
  std::unique_ptr<SegmentCoder> open() const;

  StreamOptions options_;
  std::vector<SegmentSlot> slots_;
  std::size_t turn_ = 0;
  std::string backend_, reason_;
};

}  // namespace cu264::vle
