// Pictures and level maps for edge detection.
#pragma once

#include <string>
#include <vector>

#include "tests/parity/canny_device.h"

namespace cu264::parity {

GrayPicture flat(int width, int height, int value);
GrayPicture noise(int width, int height, unsigned seed);

// Discs of all contrasts over a ramp, with a little noise: edges of every strength and direction.
GrayPicture discs(int width, int height, unsigned seed);

// Levels: one path through a column of 32 x `height`, row by row to and fro, strong at its beginning only.
GrayPicture serpentine(int height);

GrayPicture random_levels(int width, int height, int percent, int most, unsigned seed);

// The dense binary PGM files anywhere below the folder CU264_TEST_DATA, sorted; none without it.
std::vector<std::string> pgm_paths();
GrayPicture read_pgm(const std::string& path);

}  // namespace cu264::parity
