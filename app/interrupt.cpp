#include "app/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "io/inside_av.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

std::atomic<int> first_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch it");

// The code that reads the input notices a signal within this time, unless a file keeps it busy for longer.
constexpr unsigned kPatienceSeconds = 5;
std::atomic<unsigned> call_at_signal{0};  // the one that the signal interrupted
std::atomic<bool> in_call{false};

[[noreturn]] void end_at_once() {
  io::OutputFile::remove_temporaries();
  _exit(static_cast<int>(interrupted_exit()));
}

void on_signal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) end_at_once();
  in_call = io::InsideAv::any();
  call_at_signal = io::InsideAv::calls();
  alarm(kPatienceSeconds);
}

void on_alarm(int) {
  if (!io::InsideAv::any()) return;  // what has been read is being finished
  if (in_call && call_at_signal == io::InsideAv::calls()) end_at_once();
  in_call = true;
  call_at_signal = io::InsideAv::calls();
  alarm(kPatienceSeconds);
}

bool is_ignored(int number) {
  struct sigaction present {};
  return sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  if (!is_ignored(SIGHUP)) sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = on_alarm;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_flags = 0;
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() {
  return first_signal.load() != 0;
}

ExitCode interrupted_exit() {
  switch (first_signal.load()) {
    case SIGTERM:
      return ExitCode::terminated;
    case SIGHUP:
      return ExitCode::hung_up;
    default:
      return ExitCode::interrupted;
  }
}

}  // namespace cu264::app
