// Asks libavformat's muxers what they can hold, by letting them begin a file in memory.
#pragma once

#include "io/av.h"
#include "io/output_container.h"

namespace cu264::io {

enum class Holding {
  no,
  experimental,  // with the muxer's flag for what is not settled yet
  yes,
};

// Says whether the container can hold a copy of the stream beside a video.
Holding holds(Container container, const AVStream& stream);

// Says whether the container can ask players to turn the pictures of a stream (a display matrix).
bool holds_display_matrix(Container container);

}  // namespace cu264::io
