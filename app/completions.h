// Completions for shells, made from the verbs' own descriptions.
#pragma once

#include <string>

namespace cu264::app {

// Return the script that the shell loads.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace cu264::app
