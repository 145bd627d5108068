// A growing `bytes` object. Programs get it without another copy: at the size of videos, touching fresh
// memory costs as much as encoding on a GPU.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace cu264::python {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ~ByteBuffer();
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  // Both may be called with and without the GIL.
  void append(std::span<const std::uint8_t> from);
  void insert_front(std::span<const std::uint8_t> from);

  // Gives the content away. With the GIL.
  nanobind::object take();

 private:
  void reserve(std::size_t size);
  char* data() const;

  PyObject* bytes_ = nullptr;  // of capacity_ bytes, seen by nobody else
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace cu264::python
