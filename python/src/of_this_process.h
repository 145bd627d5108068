// Owns an object with threads. A child made by fork() has none of them, and to end what it has a copy of
// would wait for them forever; so the child leaves it alone.
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

#include "released_gil.h"

namespace cu264::python {

template <typename T>
class OfThisProcess {
 public:
  explicit OfThisProcess(std::unique_ptr<T> owned) : owned_(std::move(owned)), process_(getpid()) {}
  OfThisProcess(OfThisProcess&&) = default;
  OfThisProcess& operator=(OfThisProcess&&) = delete;
  ~OfThisProcess() {
    if (getpid() != process_) {
      static_cast<void>(owned_.release());
    } else if (owned_) {
      const ReleasedGil released;  // its threads may have to finish
      owned_.reset();
    }
  }

  T* operator->() const { return owned_.get(); }
  T& operator*() const { return *owned_; }

 private:
  std::unique_ptr<T> owned_;
  pid_t process_;
};

}  // namespace cu264::python
