#include "released_gil.h"

#include <pthread.h>

#include <atomic>
#include <thread>

namespace cu264::python {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> ending{false};
std::atomic<std::thread::id> last_thread;
std::atomic<int> working{0};  // threads without the GIL in the library, and those that are about to get it

// Sleeps until the process is gone, if the interpreter ends.
void park_if_ending() {
  if (!ending || std::this_thread::get_id() == last_thread.load()) return;
  --working;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

ReleasedGil::ReleasedGil() : state_(nullptr) {
  ++working;
  state_ = PyEval_SaveThread();
}

ReleasedGil::~ReleasedGil() {
  if (state_ == nullptr) return;  // let_signals_in() has thrown
  park_if_ending();
  PyEval_RestoreThread(state_);
  --working;
}

void ReleasedGil::let_signals_in(const std::function<void()>& also) {
  constexpr std::chrono::milliseconds kOften(50);
  park_if_ending();
  if (Clock::now() - last_ < kOften) return;
  last_ = Clock::now();
  PyEval_RestoreThread(state_);
  try {
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (also) also();
  } catch (...) {
    state_ = nullptr;
    --working;
    throw;
  }
  state_ = PyEval_SaveThread();
}

AcquiredGil::AcquiredGil() : state_() {
  ++working;
  park_if_ending();
  state_ = PyGILState_Ensure();
  --working;
}

AcquiredGil::~AcquiredGil() {
  PyGILState_Release(state_);
}

void forget_threads_in_children() {
  pthread_atfork(nullptr, nullptr, [] { working = 0; });
}

void end_other_threads() {
  constexpr std::chrono::seconds kMax(10);
  last_thread = std::this_thread::get_id();
  ending = true;
  PyThreadState* const state = PyEval_SaveThread();
  const Clock::time_point begin = Clock::now();
  while (working > 0 && Clock::now() - begin < kMax)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

}  // namespace cu264::python
