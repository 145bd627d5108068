// Titles and other tags, and chapters, on their way from an input to an output.
#pragma once

#include <cstdint>
#include <string>

#include "io/av.h"
#include "io/output_container.h"

namespace cu264::io {

// Copies the tags of a file, but for those that describe the input's container.
void copy_file_tags(AVFormatContext& to, const AVFormatContext& from);

// Copies the tags of a stream that is coded anew, but for those that describe its old coding.
void copy_coded_stream_tags(AVStream& to, const AVStream& from);

// Copies the chapters that touch the span from `begin` on, in AV_TIME_BASE units, and lets their times begin
// there. `length` is AV_NOPTS_VALUE if the span has no end.
void copy_chapters(AVFormatContext& to, const AVFormatContext& from, std::int64_t begin, std::int64_t length);

// Names the tags of a file, separated by commas, that copy_file_tags copies but this container's muxer does
// not write.
std::string lost_file_tags(Container container, const AVFormatContext& from);

}  // namespace cu264::io
