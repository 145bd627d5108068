// Reads a sequence parameter set as far as an MP4 file repeats it.
#pragma once

#include <cstdint>
#include <span>

#include "io/mp4/avc_stream.h"

namespace cu264::mp4 {

// Returns whether the SPS of a profile has chroma_format_idc and what follows it (H.264 7.3.2.1.1).
bool has_chroma_format(int profile_idc);

// `unit` is the whole NAL unit. Throws Error(invalid_argument) if it ends too early or has no size.
SequenceInfo read_sequence_info(std::span<const std::uint8_t> unit);

}  // namespace cu264::mp4
