// Pictures and level maps for edge detection.
#pragma once

#include <string>
#include <vector>

#include "tests/parity/canny_device.h"

namespace cu264::parity {

GrayPicture flat(int width, int height, int value);
GrayPicture noise(int width, int height, unsigned seed);

// Discs of all contrasts over a ramp with a little noise, which have edges of every strength and direction.
GrayPicture discs(int width, int height, unsigned seed);

// Levels of one path that runs to and fro through the rows of a column of 32 x `height` and is strong only at
// its beginning.
GrayPicture serpentine(int height);

GrayPicture random_levels(int width, int height, int percent, int most, unsigned seed);

// The dense binary PGM files anywhere below the folder that CU264_TEST_DATA names, sorted; none if it is not
// set.
std::vector<std::string> pgm_paths();
GrayPicture read_pgm(const std::string& path);

}  // namespace cu264::parity
