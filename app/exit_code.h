// The exit status of the command, for scripts.
#pragma once

#include "cu264/status.h"

namespace cu264::app {

enum class ExitCode {
  done = 0,
  usage = 1,
  input = 2,
  device = 3,
  encode = 4,  // encoding failed, or writing what was encoded
  verify = 5,
  // Ended by a signal: 128 and its number, as in shells.
  hung_up = 129,      // SIGHUP
  interrupted = 130,  // SIGINT
  terminated = 143,   // SIGTERM
};

ExitCode exit_code_of(ErrorCode code);

}  // namespace cu264::app
