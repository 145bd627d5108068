#include "byte_buffer.h"

#include <sys/mman.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "released_gil.h"

namespace cu264::python {
namespace {

struct Block {
  std::uint8_t* data = nullptr;
  std::size_t capacity = 0;
};

// Keeps the block that the last owner gave up.
std::mutex spare_mutex;
Block spare;

Block take_spare() {
  const std::lock_guard lock(spare_mutex);
  return std::exchange(spare, {});
}

// Keeps the larger one of two blocks and frees the other.
void leave_spare(Block block) {
  {
    const std::lock_guard lock(spare_mutex);
    if (block.capacity > spare.capacity) std::swap(spare, block);
  }
  std::free(block.data);
}

// Asks for huge pages. Without them nothing changes but the time.
void advise_huge_pages(void* data, std::size_t size) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto first = (begin + kHugePage - 1) / kHugePage * kHugePage,
             end = (begin + size) / kHugePage * kHugePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

// Copies to memory that may be fresh. The threads share the work of the system, which clears its pages.
void copy_by_threads(char* to, const std::uint8_t* from, std::size_t size) {
  constexpr std::size_t kPiece = std::size_t{2} << 20;
  if (size < 2 * kPiece) {
    std::copy_n(from, size, to);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, size, kPiece), [&](const auto& range) {
    std::memcpy(to + range.begin(), from + range.begin(), range.size());
  });
}

}  // namespace

void ReusedMemory::reserve(std::size_t size) {
  if (size <= capacity_) return;
  if (data_ == nullptr) {
    const Block block = take_spare();
    data_ = block.data, capacity_ = block.capacity;
    if (size <= capacity_) return;
  }
  constexpr std::size_t kFirst = std::size_t{1} << 16;
  const std::size_t larger = std::max({size, 2 * capacity_, kFirst});
  // The C library moves the pages of large memory, not its bytes.
  void* const moved = std::realloc(data_, larger);
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::uint8_t*>(moved), capacity_ = larger;
  advise_huge_pages(data_, capacity_);
}

void ReusedMemory::give_up() {
  constexpr std::size_t kMaxKeptBytes = std::size_t{64} << 20;
  const Block block{std::exchange(data_, nullptr), std::exchange(capacity_, 0)};
  if (block.capacity <= kMaxKeptBytes) {
    leave_spare(block);
  } else {
    std::free(block.data);
  }
}

void ByteBuffer::append(std::span<const std::uint8_t> from) {
  if (from.empty()) return;
  memory_.reserve(size_ + from.size());
  std::memcpy(memory_.data() + size_, from.data(), from.size());
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
  const ReleasedGil released;
  advise_huge_pages(to, size);
  std::copy(front_.begin(), front_.end(), to);
  copy_by_threads(to + front_.size(), memory_.data(), size_);
  front_.clear();
  size_ = 0;
  return taken;
}

}  // namespace cu264::python
