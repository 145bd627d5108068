// An MP4 file that is written to a path, or kept in memory until take().
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "byte_buffer.h"
#include "cu264/mp4.h"

namespace cu264::python {

class Mp4File {
 public:
  Mp4File(const Mp4Config& config, const std::optional<std::string>& path)
      : writer_(path ? Mp4Writer(config, *path)
                     : Mp4Writer(
                           config, [this](std::span<const std::uint8_t> bytes) { buffer_.append(bytes); },
                           [this](std::span<const std::uint8_t> bytes) { buffer_.insert_front(bytes); })) {}

  Mp4Writer& writer() { return writer_; }
  // Returns what has been written to memory since the last call; a file without fragments comes once it is
  // finished.
  nanobind::object take() { return buffer_.take(); }

 private:
  ByteBuffer buffer_;  // before writer_, which writes to it
  Mp4Writer writer_;
};

}  // namespace cu264::python
