// Bytes that grow, and become a `bytes` object with one copy. At the size of videos, to touch fresh memory
// costs as much as to encode on a GPU, so it is touched no more often than that, and in huge pages where the
// system has them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cu264::python {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ~ByteBuffer();
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  void append(std::span<const std::uint8_t> from);
  void insert_front(std::span<const std::uint8_t> from);

  // Gives the content away. With the GIL, which is released while bytes are copied.
  nanobind::object take();

 private:
  void reserve(std::size_t size);

  std::vector<std::uint8_t> front_;  // before what data_ has
  std::uint8_t* data_ = nullptr;     // of malloc
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace cu264::python
