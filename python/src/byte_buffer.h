// Bytes that grow, and become a `bytes` object with one copy. At the size of videos, to touch fresh memory
// costs as much as to encode on a GPU, so memory is kept for the next buffer, and the copy, which writes to
// fresh memory, is made by several threads.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cu264::python {

// Memory of malloc. What an owner gives up is kept for the next one, up to a limit.
class ReusedMemory {
 public:
  ReusedMemory() = default;
  ~ReusedMemory() { give_up(); }
  ReusedMemory(const ReusedMemory&) = delete;
  ReusedMemory& operator=(const ReusedMemory&) = delete;

  // Grows to `size` bytes or more and keeps the content.
  void reserve(std::size_t size);
  void give_up();

  std::uint8_t* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t capacity_ = 0;
};

class ByteBuffer {
 public:
  void append(std::span<const std::uint8_t> from);
  void insert_front(std::span<const std::uint8_t> from);

  // Gives the content away. With the GIL, which is released while bytes are copied.
  nanobind::object take();

 private:
  std::vector<std::uint8_t> front_;  // before what memory_ has
  ReusedMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace cu264::python
