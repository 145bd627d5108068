// The file of a key that a command is given.
#pragma once

#include <string>

#include "cu264/protect.h"

namespace cu264::app {

// Warns of a file that other users may read or change.
ProtectionKey key_of_file(const std::string& path);

}  // namespace cu264::app
