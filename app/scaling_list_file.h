// The file of --cqmfile: scaling lists in the form of the JM's and x264's files.
#pragma once

#include <string>

#include "cu264/scaling_lists.h"

namespace cu264::app {

// Throws Error(bad_input), which names the file and its line.
ScalingLists read_scaling_list_file(const std::string& path);

}  // namespace cu264::app
