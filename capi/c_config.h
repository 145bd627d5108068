// The configuration of an encoder as C programs have it: options by name.
#pragma once

#include "capi/boundary.h"
#include "cu264/encoder.h"

namespace cu264::capi {

// Whom to tell what is worth knowing.
struct Log {
  cu264_log_callback callback = nullptr;
  void* opaque = nullptr;

  // Tells what opening or reconfiguring an encoder came to.
  void tell(const EncoderInfo& info) const;
};

// Returns the value, or the option's implicit one for a null pointer.
std::string_view option_value(const char* name, const char* value);

// Sets an option that Config::set takes, or a field that it has no option for. A null value stands for the
// option's implicit one.
void set_option(Config& config, const char* name, const char* value);

}  // namespace cu264::capi

struct cu264_config {
  cu264::Config config;
  cu264::capi::Log log;
};
