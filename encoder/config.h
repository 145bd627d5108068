// What a Config must satisfy before anything is built from it.
#pragma once

#include "cu264/encoder.h"

namespace cu264::encoder {

inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxBatch = 1024;
inline constexpr int kMaxDevices = 64;

inline int macroblocks(int samples) {
  return (samples + 15) / 16;
}

// Sides of the decoded picture: the crop rectangle of 4:2:0 counts in pairs (H.264 7.4.2.1.1).
inline int coded_side(int samples) {
  return samples + (samples & 1);
}

// Throws Error(invalid_argument or unsupported) that names the first field at fault.
void validate(const Config& config);

// By name, as Config::set takes it.
const char* name_of(Preset preset);
const char* name_of(PixelFormat format);

// Whether the frames will be RGB, and what the stream says of its colours: Config::colour, with a matrix
// where RGB must be converted by one.
bool converts_rgb(const Config& config);
Colour coded_colour(const Config& config);

// Without common factors.
Rational reduced(Rational value);

}  // namespace cu264::encoder
