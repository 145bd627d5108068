#include "app/overwrite.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "app/interrupt.h"
#include "cu264/status.h"

namespace cu264::app {
namespace {

bool is_at_a_terminal() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

// Waits until standard input has something to read or has ended. Returns false after a signal. It looks ten
// times a second, because a signal may come just before the wait begins, or to another thread, and would not
// end it then.
bool input_comes() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (!interrupted()) {
    const int ready = poll(&input, 1, 100);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
  return false;
}

// Reads a line of standard input without a buffer, so that nothing after it is consumed. A signal ends it.
bool person_agrees(const std::string& path) {
  std::fprintf(stderr, "cu264: %s exists. Overwrite it? [y/N] ", path.c_str());
  std::fflush(stderr);
  std::string answer;
  for (char letter = 0; input_comes() && read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n';)
    answer += letter;
  if (interrupted()) {
    std::fputs("\n", stderr);
    throw Interrupted();
  }
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

void check_overwrite(const std::string& path, Overwrite overwrite) {
  std::error_code absent;
  if (overwrite == Overwrite::yes || path.empty() || path == "-" ||
      !std::filesystem::is_regular_file(path, absent)) {
    return;
  }
  if (overwrite == Overwrite::ask && is_at_a_terminal()) {
    if (person_agrees(path)) return;
    throw Error(ErrorCode::bad_output, path + ": was not overwritten");
  }
  throw Error(ErrorCode::bad_output, path + ": exists", "-y overwrites it");
}

}  // namespace cu264::app
