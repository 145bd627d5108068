// Wakes threads and event loops that wait for packets. Backends signal it from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace cu264::encoder {

class Notifier {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static Deadline deadline_in(std::chrono::nanoseconds timeout);

  Notifier() = default;
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void signal();

  // Call this before checking whether what is waited for is there. Makes the descriptor unreadable, and
  // returns the value to pass to wait(): a signal that comes after this call ends the wait.
  std::uint64_t begin_check();
  // Sleeps. Returns false if there was no signal until the deadline.
  bool wait(std::uint64_t seen, Deadline deadline);

  // A descriptor that is readable from a signal to the next check. Throws Error(out_of_memory) if the process
  // has no more descriptors.
  int descriptor();

 private:
  std::mutex mutex_;
  std::condition_variable signalled_;
  std::uint64_t signals_ = 0;
  int descriptor_ = -1;
};

}  // namespace cu264::encoder
