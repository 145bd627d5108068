// The options of `cu264 vle`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cu264/vle.h"

namespace cu264::app {

struct VleOptions {
  bool expand = false;
  std::string input, output;
  BackendChoice backend = BackendChoice::automatic;
  int threads = 0;
  bool progress = true;  // shown if stderr is a terminal
  bool quiet = false;
};

// Throws Error(invalid_argument) for anything that is not understood. Returns nothing if help was asked for.
std::optional<VleOptions> parse_vle_options(const std::vector<std::string>& arguments);

std::string vle_help();

}  // namespace cu264::app
