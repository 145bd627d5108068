// Pictures of many kinds for random_parity.
#pragma once

#include "support/picture.h"
#include "tests/parity/random_draw.h"

namespace cu264::parity {

test::Picture random_picture(RandomDraw& draw, int width, int height);

}  // namespace cu264::parity
