#include "byte_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cu264::python {
namespace {

// Asks for huge pages, of which a video touches far fewer. Without them nothing changes but the time.
void advise_huge_pages(char* data, std::size_t size) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + size) / kHugePage * kHugePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace

ByteBuffer::~ByteBuffer() {
  const nanobind::gil_scoped_acquire held;
  Py_XDECREF(bytes_);
}

char* ByteBuffer::data() const {
  return PyBytes_AsString(bytes_);
}

void ByteBuffer::reserve(std::size_t size) {
  if (size <= capacity_) return;
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  const std::size_t larger = std::max({size, 2 * capacity_, kFirst});
  const nanobind::gil_scoped_acquire held;
  // Of a large object, the C library moves the pages and not the bytes.
  if (bytes_ == nullptr) {
    bytes_ = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(larger));
  } else if (_PyBytes_Resize(&bytes_, static_cast<Py_ssize_t>(larger)) != 0) {
    bytes_ = nullptr;
  }
  if (bytes_ == nullptr) {
    capacity_ = size_ = 0;
    throw nanobind::python_error();
  }
  capacity_ = larger;
  advise_huge_pages(data(), capacity_);
}

void ByteBuffer::append(std::span<const std::uint8_t> from) {
  reserve(size_ + from.size());
  std::memcpy(data() + size_, from.data(), from.size());
  size_ += from.size();
}

void ByteBuffer::insert_front(std::span<const std::uint8_t> from) {
  reserve(size_ + from.size());
  std::memmove(data() + from.size(), data(), size_);
  std::memcpy(data(), from.data(), from.size());
  size_ += from.size();
}

nanobind::object ByteBuffer::take() {
  if (bytes_ == nullptr) return nanobind::bytes("", 0);
  PyObject* taken = std::exchange(bytes_, nullptr);
  const std::size_t size = std::exchange(size_, 0);
  capacity_ = 0;
  if (_PyBytes_Resize(&taken, static_cast<Py_ssize_t>(size)) != 0) throw nanobind::python_error();
  return nanobind::steal(taken);
}

}  // namespace cu264::python
