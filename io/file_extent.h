// Finds out whether a file is as long as it says. Demuxers take an end between two elements for the file's
// end.
#pragma once

#include <string>

#include "io/input_file.h"

namespace cu264::io {

// Returns in words what is missing at the end of a regular file; empty if nothing is known to be missing.
// Understands Matroska, mp4 and mov, RIFF (AVI), GIF, JPEG and transport streams by their content.
std::string missing_end(const InputFile& file);

}  // namespace cu264::io
