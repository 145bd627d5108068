// Errors: one exception type with a stable code and a message that names the cause and the remedy. The
// library throws it; it never prints, exits or aborts.
#pragma once

#include <stdexcept>
#include <string>

namespace cu264 {

// Values are stable: they may be stored and compared across versions.
enum class ErrorCode {
  invalid_argument = 1,    // a value outside its documented range, an unknown option or name
  unsupported = 2,         // legal, but not available in this build, profile or backend
  bad_input = 3,           // the caller's pictures or files cannot be used as they are
  bad_output = 4,          // the destination cannot be written
  out_of_memory = 5,       // host or device memory
  device_unavailable = 6,  // no usable device, or its driver is too old
  device_failure = 7,      // a device that worked stopped working
  encode_failure = 8,      // an internal contract was broken: please report it
  verify_failure = 9,      // what was written does not decode to the reconstruction
};

class Error : public std::runtime_error {
 public:
  // what() is "cause" or "cause (remedy)", one line without a final period.
  Error(ErrorCode code, const std::string& cause, const std::string& remedy = {})
      : std::runtime_error(remedy.empty() ? cause : cause + " (" + remedy + ")"), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace cu264
