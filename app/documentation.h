// Texts that are made from what the verbs and options say of themselves.
#pragma once

#include <string>

namespace cu264::app {

// Return the script that the shell loads.
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

// Returns the manual page cu264(1), in roff with the macros of man(7).
std::string man_page();

// Returns the reference page of the encoder's options, docs/options.md, in Markdown.
std::string options_page();

}  // namespace cu264::app
