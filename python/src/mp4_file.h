// An MP4 file that is written to a file, or kept in memory until take().
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <utility>

#include "byte_buffer.h"
#include "cu264/mp4.h"
#include "file_output.h"

namespace cu264::python {

class Mp4File {
 public:
  // `file` is a FileOutput, or None for memory.
  Mp4File(const Mp4Config& config, nanobind::object file)
      : file_(std::move(file)),
        output_(file_.is_none() ? nullptr : &nanobind::cast<FileOutput&>(file_)),
        writer_(
            config,
            [this](std::span<const std::uint8_t> bytes) {
              output_ != nullptr ? output_->write(bytes) : buffer_.append(bytes);
            },
            [this](std::span<const std::uint8_t> bytes) {
              output_ != nullptr ? output_->insert_front(bytes) : buffer_.insert_front(bytes);
            }) {}

  Mp4Writer& writer() { return writer_; }
  // Returns what has been written to memory since the last call; a file without fragments comes once it is
  // finished.
  nanobind::object take() { return buffer_.take(); }

 private:
  // Before writer_, which writes to them
  ByteBuffer buffer_;
  nanobind::object file_;
  FileOutput* output_;
  Mp4Writer writer_;
};

}  // namespace cu264::python
