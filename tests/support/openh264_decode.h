// Decodes an H.264 byte stream with Cisco's openh264, which shares no code with libavcodec: a second opinion
// on what a stream shows. The tests are built without it where it is not installed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/picture.h"

namespace cu264::test {

// Says whether there is such a decoder.
bool has_openh264();

// Returns the pictures that it shows, whatever it thinks of the stream.
std::vector<Picture> decode_with_openh264(std::span<const std::uint8_t> stream);

}  // namespace cu264::test
