// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <string>
#include <vector>

namespace cu264::app {

// Empty if none is near.
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

}  // namespace cu264::app
