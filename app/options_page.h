// The reference page of the encoder's options, docs/options.md, in Markdown.
#pragma once

#include <string>

namespace cu264::app {

std::string options_page();

}  // namespace cu264::app
