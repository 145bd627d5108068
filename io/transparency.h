// Finds out whether a picture is transparent somewhere, so that dropping its alpha channel loses something.
#pragma once

#include "io/av.h"

namespace cu264::io {

bool has_alpha_channel(AVPixelFormat format);

// True if some sample is not fully opaque.
bool is_transparent_somewhere(const AVFrame& frame);

}  // namespace cu264::io
