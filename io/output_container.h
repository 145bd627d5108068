// The forms an output can take.
#pragma once

#include <string>
#include <vector>

#include "io/av.h"

namespace cu264::io {

enum class Container { h264, mp4, mov, mkv, ts };

// By the format's name ("h264", "mp4", ...); throws Error(invalid_argument).
Container container_by_name(const std::string& name);
// By the file name's extension; throws Error(invalid_argument).
Container container_by_extension(const std::string& path);

const char* muxer_name(Container container);    // libavformat's
const char* demuxer_name(Container container);  // libavformat's, to read the same file again
bool is_mp4_family(Container container);

// Can its reader start anywhere only if each picture repeats the parameter sets?
bool repeats_headers(Container container);
// Are the parameter sets kept outside the pictures?
bool separate_headers(Container container);

// The streams that the container can hold. Adds a line to `notes` for each that it cannot.
std::vector<const AVStream*> copyable(Container container, const std::vector<const AVStream*>& streams,
                                      std::vector<std::string>& notes);

}  // namespace cu264::io
