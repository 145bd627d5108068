// Finds the known name that is closest to a mistyped one, for "did you mean".
#pragma once

#include <string>
#include <vector>

namespace cu264::app {

// Returns an empty string if none is close.
std::string suggest(const std::string& typed, const std::vector<std::string>& known);

}  // namespace cu264::app
