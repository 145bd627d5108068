// Which of libavformat's demuxers open further files, and what may be opened at all.
#pragma once

#include <string>

#include "io/av.h"

namespace cu264::io {

// Playlists, manifests, scripts and image sequences, whose content names what is read next.
bool names_other_files(const AVInputFormat& format);

// The names of all demuxers but those, and `asked`, by commas: AVFormatContext::format_whitelist.
std::string allowed_formats(const AVInputFormat* asked);

// Local files, and what was asked for, by commas: AVFormatContext::protocol_whitelist.
std::string allowed_protocols(const std::string& asked);

}  // namespace cu264::io
