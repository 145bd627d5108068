// The options of `cu264 vle`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/overwrite.h"
#include "app/verb_help.h"
#include "cu264/vle.h"

namespace cu264::app {

struct VleOptions {
  bool expand = false;
  std::string input, output;
  Overwrite overwrite = Overwrite::ask;
  BackendChoice backend = BackendChoice::automatic;
  int threads = 0;
  bool progress = true;
  bool quiet = false;
};

// Throws Error(invalid_argument) for anything that is not understood. Returns nothing if help was asked for.
std::optional<VleOptions> parse_vle_options(const std::vector<std::string>& arguments);

}  // namespace cu264::app
