#include "encoder/notifier.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "cu264/status.h"

namespace cu264::encoder {

Notifier::Deadline Notifier::deadline_in(std::chrono::nanoseconds timeout) {
  const auto now = std::chrono::steady_clock::now();
  return timeout < Deadline::max() - now ? now + timeout : Deadline::max();
}

Notifier::~Notifier() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Notifier::signal() {
  const std::lock_guard lock(mutex_);
  ++signals_;
  signalled_.notify_all();
  if (descriptor_ >= 0) eventfd_write(descriptor_, 1);
}

std::uint64_t Notifier::begin_check() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  if (descriptor_ >= 0) eventfd_read(descriptor_, &count);  // fails if it is not readable
  return signals_;
}

bool Notifier::wait(std::uint64_t seen, Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto signalled = [&] { return signals_ != seen; };
  if (deadline == Deadline::max()) {
    signalled_.wait(lock, signalled);
    return true;
  }
  return signalled_.wait_until(lock, deadline, signalled);
}

int Notifier::descriptor() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0) descriptor_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (descriptor_ < 0) {
    throw Error(ErrorCode::out_of_memory, "the process has no more file descriptors",
                "close some, or raise the limit with ulimit -n");
  }
  if (signals_ > 0) eventfd_write(descriptor_, 1);
  return descriptor_;
}

}  // namespace cu264::encoder
