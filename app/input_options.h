// The options that say what is read and how. They are the same for every verb that reads video.
#pragma once

#include "app/parsed_options.h"
#include "io/reader.h"

namespace cu264::app {

// The first group says what is read, the second how it is described where the input does not say it.
OptionGroup input_options();
OptionGroup description_options();

// Reads both groups for the input `path`, whose pictures may be as large as reader.max_side. Throws
// Error(invalid_argument).
void read_input(const ParsedOptions& parsed, const std::string& path, io::ReaderOptions& reader);

}  // namespace cu264::app
