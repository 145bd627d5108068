// The containers that an output can have.
#pragma once

#include <string>

namespace cu264::io {

enum class Container { h264, mp4, mov, mkv, ts };

// Finds a container by the format's name ("h264", "mp4", ...); throws Error(invalid_argument) if there is
// none.
Container container_by_name(const std::string& name);
// Finds a container by the file name's extension; throws Error(invalid_argument) if there is none.
Container container_by_extension(const std::string& path);

const char* name_of(Container container);       // as it is written after the dot of a file name
const char* muxer_name(Container container);    // libavformat's
const char* demuxer_name(Container container);  // libavformat's, for reading the same file again
bool is_mp4_family(Container container);

// Says whether the parameter sets are kept outside the pictures.
bool separate_headers(Container container);

}  // namespace cu264::io
