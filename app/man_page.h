// The manual page cu264(1), made from what the verbs say of themselves.
#pragma once

#include <string>

namespace cu264::app {

// Returns it in roff with the macros of man(7).
std::string man_page();

}  // namespace cu264::app
