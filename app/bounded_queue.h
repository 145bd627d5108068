// A queue between the thread that reads and the thread that encodes. It holds a few pictures, so that neither
// thread waits for each step of the other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace cu264::app {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Waits for room. Returns false if nobody takes items any more.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return items_.size() < capacity_ || abandoned_; });
    if (abandoned_) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }

  // Says that nothing more will be pushed. If there is an `error`, pop() throws it once the queue is empty.
  void close(std::exception_ptr error = nullptr) {
    const std::lock_guard lock(mutex_);
    closed_ = true, error_ = std::move(error);
    changed_.notify_all();
  }

  // Says that nothing more will be popped.
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }

  // Waits for at most `patience`. Returns nothing if no item came in that time, or if the queue is
  // finished().
  std::optional<T> pop(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return !items_.empty() || closed_; });
    if (items_.empty()) {
      if (closed_ && error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

  bool empty() const {
    const std::lock_guard lock(mutex_);
    return items_.empty();
  }

  // Returns true if everything was popped and there is no error left to throw.
  bool finished() const {
    const std::lock_guard lock(mutex_);
    return items_.empty() && closed_ && !error_;
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
  bool abandoned_ = false;
  std::exception_ptr error_;
};

}  // namespace cu264::app
