// Turns files and pipes into containers and back. Several segments are read, coded and written at the same
// time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cu264/vle.h"
#include "entropy/vle/segment.h"

namespace cu264::vle {

// Memory for what is read, or for what is written, of one segment. It grows to the size that is requested.
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
  // Opens at most `count` coders. Throws Error(device_unavailable) if CUDA is requested and not available.
  SegmentSlots(const StreamOptions& options, std::size_t count);

  std::size_t size() const { return slots_.size(); }
  // Returns the slots in turn and opens each when it is first needed. Two threads must not call it at once.
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
