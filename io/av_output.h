// Lets libavformat write into an OutputFile.
#pragma once

#include <cstddef>

#include "io/av.h"
#include "io/output_file.h"

namespace cu264::io {

// Writes to `file`, which must outlive the result, and seeks where the file can.
AvIo make_output_io(OutputFile& file);

// Converts a size to libavcodec's type. Throws Error(bad_input) if an int cannot hold it.
int packet_size(std::size_t bytes);

}  // namespace cu264::io
