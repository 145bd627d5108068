// Tools of the tests of rate control: a clip that cuts between black, pictures and noise, the modes, and a
// leaky bucket that is told nothing but sizes.
#pragma once

#include <cstddef>
#include <vector>

#include "cu264/encoder.h"
#include "support/picture.h"

namespace cu264::test {

// Pictures of changing kinds: black ones, natural ones and noise, with cuts between them.
std::vector<Picture> cuts_of(int width, int height, int pictures);

struct RateMode {
  const char* name;
  Config config;
};

// A configuration of each mode, for the pictures of cuts_of(), which are coded again here and there.
std::vector<RateMode> rate_modes(int width, int height);

// Codes with the clip's pictures in host memory.
std::vector<Packet> encode_with_rate(Encoder& encoder, const std::vector<Picture>& pictures);

// The same, and drains the encoder before the pictures of these numbers.
std::vector<Packet> encode_draining(Encoder& encoder, const std::vector<Picture>& pictures,
                                    const std::vector<std::size_t>& drained);

// The fault of the first picture that a buffer does not have in time, or overflows with; empty if there is
// none. `bits_per_picture` is what the buffer receives between two pictures.
struct BucketFault {
  int picture = -1;
  const char* what = "";
};
BucketFault leaky_bucket(const std::vector<Packet>& packets, double bits_per_picture, double buffer,
                         bool constant);

}  // namespace cu264::test
