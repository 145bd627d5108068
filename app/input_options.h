// The options that say what is read and how. They are the same for every verb that reads video.
#pragma once

#include "app/parsed_options.h"
#include "io/reader.h"

namespace cu264::app {

void add_input_options(boost::program_options::options_description& group);
// Reads the options of the only input, whose pictures may be as large as reader.max_side. Throws
// Error(invalid_argument).
void read_input(const ParsedOptions& parsed, const std::string& verb, io::ReaderOptions& reader);

}  // namespace cu264::app
