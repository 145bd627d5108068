#include "byte_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cu264::python {
namespace {

// Without huge pages nothing changes but the time.
void advise_huge_pages(void* data, std::size_t size) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto first = (begin + kHugePage - 1) / kHugePage * kHugePage,
             end = (begin + size) / kHugePage * kHugePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace

ByteBuffer::~ByteBuffer() {
  std::free(data_);
}

void ByteBuffer::reserve(std::size_t size) {
  if (size <= capacity_) return;
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  const std::size_t larger = std::max({size, 2 * capacity_, kFirst});
  // The C library moves the pages of large memory, not its bytes.
  void* const moved = std::realloc(data_, larger);
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::uint8_t*>(moved), capacity_ = larger;
  advise_huge_pages(data_, capacity_);
}

void ByteBuffer::append(std::span<const std::uint8_t> from) {
  if (from.empty()) return;
  reserve(size_ + from.size());
  std::memcpy(data_ + size_, from.data(), from.size());
  size_ += from.size();
}

void ByteBuffer::insert_front(std::span<const std::uint8_t> from) {
  front_.insert(front_.begin(), from.begin(), from.end());
}

nanobind::object ByteBuffer::take() {
  const std::size_t size = front_.size() + size_;
  const nanobind::object taken =
      nanobind::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!taken.is_valid()) throw nanobind::python_error();
  char* const to = PyBytes_AsString(taken.ptr());  // nobody else has the object yet
  const nanobind::gil_scoped_release released;
  advise_huge_pages(to, size);
  std::copy(front_.begin(), front_.end(), to);
  if (size_ > 0) std::memcpy(to + front_.size(), data_, size_);
  front_.clear();
  size_ = 0;
  return taken;
}

}  // namespace cu264::python
