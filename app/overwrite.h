// Decides whether an output that exists may be overwritten.
#pragma once

#include <string>

namespace cu264::app {

enum class Overwrite { ask, yes, no };

// Returns if `path` is not a regular file yet, or may be overwritten: with `ask`, a person at a terminal
// decides. Otherwise throws Error(bad_output), or Interrupted if a signal ends the question. An empty path is
// no file.
void check_overwrite(const std::string& path, Overwrite overwrite);

}  // namespace cu264::app
