#include "app/exit_code.h"

namespace cu264::app {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
      return ExitCode::usage;
    case ErrorCode::bad_input:
      return ExitCode::input;
    case ErrorCode::device_unavailable:
    case ErrorCode::device_failure:
      return ExitCode::device;
    case ErrorCode::verify_failure:
      return ExitCode::verify;
    case ErrorCode::bad_output:
    case ErrorCode::out_of_memory:
    case ErrorCode::encode_failure:
      break;
  }
  return ExitCode::encode;
}

}  // namespace cu264::app
