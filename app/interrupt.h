// The first Ctrl-C finishes the file with the pictures so far; the second removes it and ends the process at
// once.
#pragma once

#include <atomic>

namespace cu264::app {

// Makes SIGINT and SIGTERM set interrupted() from now on. A closed pipe becomes a write error.
void catch_signals();

bool interrupted();

}  // namespace cu264::app
