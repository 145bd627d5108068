#include "app/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "app/exit_code.h"
#include "io/output_file.h"

namespace cu264::app {
namespace {

std::atomic<bool> interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch it");

void on_interrupt(int) {
  if (interrupt_seen.exchange(true)) {
    io::OutputFile::remove_temporaries();
    _exit(static_cast<int>(ExitCode::interrupted));
  }
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

bool interrupted() {
  return interrupt_seen.load();
}

}  // namespace cu264::app
