// Leaves the interpreter to other threads while this one works in the library. It takes the place of
// nanobind's gil_scoped_release, after which a thread that comes back while the interpreter ends is torn down
// in the middle of C++ code.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <functional>

namespace cu264::python {

class ReleasedGil {
 public:
  ReleasedGil();
  ~ReleasedGil();
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

  // Runs Python's handlers of signals, every so often, so that Ctrl-C ends long work; then `also`, with the
  // GIL. Throws what they raise.
  void let_signals_in(const std::function<void()>& also = {});

 private:
  PyThreadState* state_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Takes the interpreter in a thread of the library's own.
class AcquiredGil {
 public:
  AcquiredGil();
  ~AcquiredGil();
  AcquiredGil(const AcquiredGil&) = delete;
  AcquiredGil& operator=(const AcquiredGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// From now on only the calling thread comes back: the interpreter ends, and the others are daemons that
// nobody waits for. Returns when none of them works in the library. With the GIL.
void end_other_threads();

// To be called once: a child made by fork() does not wait for threads that it does not have.
void forget_threads_in_children();

}  // namespace cu264::python
