// Clips of pictures that move, for tests of inter prediction. Like all made pictures they are the same on
// every machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "support/picture.h"

namespace cu264::test {

enum class Motion {
  still,    // every picture is the same
  slow,     // by fractions of a sample
  fast,     // far beyond the edges
  objects,  // a patch that moves over a ground that stands still
  fade,     // to black
  cut,      // from one picture to another
  noise,    // nothing can be predicted
  noisy,    // slow, with noise
};

inline constexpr std::array kMotions = {Motion::still, Motion::slow, Motion::fast,  Motion::objects,
                                        Motion::fade,  Motion::cut,  Motion::noise, Motion::noisy};

const char* name_of(Motion motion);

// `count` pictures.
std::vector<Picture> make_clip(Motion motion, int width, int height, int count, std::uint32_t seed = 1);

}  // namespace cu264::test
