// Says which of libavformat's demuxers open further files, and which formats and protocols are allowed.
#pragma once

#include <string>

#include "io/av.h"

namespace cu264::io {

// True for playlists, manifests, scripts and image sequences, whose content names the files that are read
// next.
bool names_other_files(const AVInputFormat& format);

// Returns the names of all demuxers but those, and that of `asked`, separated by commas, for
// AVFormatContext::format_whitelist.
std::string allowed_formats(const AVInputFormat* asked);

// Returns the protocols of local files and those in `asked`, separated by commas, for
// AVFormatContext::protocol_whitelist.
std::string allowed_protocols(const std::string& asked);

}  // namespace cu264::io
