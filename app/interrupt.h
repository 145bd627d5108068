// Ctrl-C: the first finishes the file with the pictures so far, the second removes it and ends at once.
#pragma once

#include <atomic>

namespace cu264::app {

// SIGINT and SIGTERM from now on set interrupted(); a closed pipe becomes a write error.
void catch_signals();

bool interrupted();

}  // namespace cu264::app
