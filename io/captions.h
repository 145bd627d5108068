// Closed captions of CEA-608 and CEA-708 that belong to a picture, as ATSC A/53 part 4 has them in H.264
// streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/av.h"

namespace cu264::io {

// Returns the captions of a decoded or filtered picture: triples of a type and two bytes, none if it has
// none.
std::vector<std::uint8_t> captions_of(const AVFrame& frame);

// The first puts captions into the access unit of their picture; the second returns how many bytes they take
// there.
void insert_captions(std::vector<std::uint8_t>& access_unit, const std::vector<std::uint8_t>& captions);
std::size_t captions_bytes(const std::vector<std::uint8_t>& captions);

}  // namespace cu264::io
