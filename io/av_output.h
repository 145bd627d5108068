// libavformat's writing into an OutputFile.
#pragma once

#include <cstddef>

#include "io/av.h"
#include "io/output_file.h"

namespace cu264::io {

// Writes to `file`, which must outlive it; seeks where the file can.
AvIo make_output_io(OutputFile& file);

// As libavcodec counts: Error(bad_input) where an int cannot hold it.
int packet_size(std::size_t bytes);

}  // namespace cu264::io
