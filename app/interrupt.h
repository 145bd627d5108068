// The signals that ask the command to end. The first finishes the file with the pictures so far; the second
// removes the file and ends the process at once. The first signal does the same if the code that reads the
// input does not return.
#pragma once

#include "app/exit_code.h"

namespace cu264::app {

// Makes SIGINT, SIGTERM and SIGHUP set interrupted() from now on (SIGHUP only if it is not ignored already,
// as under nohup). A closed pipe becomes a write error.
void catch_signals();

bool interrupted();

// Thrown where a signal ends something that waits; main() turns it into interrupted_exit().
struct Interrupted {};

// Returns the exit status that tells which signal it was, as shells count it: 130 for SIGINT, 143 for
// SIGTERM, 129 for SIGHUP.
ExitCode interrupted_exit();

}  // namespace cu264::app
