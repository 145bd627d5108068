// Time codes of SMPTE 12M, which name the first picture of a video.
#pragma once

#include <string>

#include "io/av.h"

namespace cu264::io {

// Returns the time code of the picture that comes `seconds` after the one that `text` names, in a video of
// the rate `from`, as a video of the rate `to` counts it. Empty if there is none.
std::string moved_time_code(const std::string& text, AVRational from, double seconds, AVRational to);

}  // namespace cu264::io
