// Checks a Config before anything is built from it, and derives values from its fields.
#pragma once

#include "cu264/encoder.h"

namespace cu264::encoder {

inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxBatch = 1024;
inline constexpr int kMaxDevices = 64;
// Config::bitrate, max_bitrate and buffer_bits must not exceed this. It lies far beyond level 6.2.
inline constexpr std::int64_t kMaxBits = 60'000'000'000;
// Config::max_frame_bytes and frame_bytes must not exceed this.
inline constexpr std::int64_t kMaxFrameBytes = 1 << 30;
// Chroma converted from RGB lies in the middle of its 2x2 samples: type 1 of H.264 figure E-1.
inline constexpr int kChromaOfRgb = 1;

inline int macroblocks(int samples) {
  return (samples + 15) / 16;
}

// Sides of the decoded picture: the crop rectangle of 4:2:0 counts in pairs (H.264 7.4.2.1.1).
inline int coded_side(int samples) {
  return samples + (samples & 1);
}

// Throws Error(invalid_argument or unsupported) that names the first field at fault.
void validate(const Config& config);

// The name as Config::set takes it. Throws Error(invalid_argument) for a value outside the enumeration.
const char* name_of(Preset preset);
const char* name_of(Profile profile);
const char* name_of(PixelFormat format);
const char* name_of(AdaptiveQuantisation aq);
const char* name_of(HeaderPlacement placement);
const char* name_of(BackendChoice backend);
const char* name_of(EntropyCoder entropy);
const char* name_of(Packing packing);
const char* name_of(OnOverflow reaction);

// Return whether frames are RGB, and the colours that the stream's headers give: Config::colour, with the
// matrix that RGB is converted by if Config leaves it unspecified.
bool converts_rgb(const Config& config);
Colour coded_colour(const Config& config);

// Config::profile with `automatic` resolved.
Profile coded_profile(const Config& config);

// Whether slices are coded with CABAC, and in a few words the reason for the profile and the entropy coder.
bool uses_cabac(const Config& config);
std::string profile_reason(const Config& config);

// Tells whether macroblocks may have the 8x8 transform.
bool uses_transform_8x8(const Config& config);

// Config::aq with `automatic` and edge_guided resolved, and the strength of edges and steps, 1..3.
AdaptiveQuantisation coded_aq(const Config& config);
int coded_aq_strength(const Config& config);

// Return whether the encoder decides the QP of a picture, which may then have a fraction, and whether
// pictures may be coded a second time.
bool controls_rate(const Config& config);
bool codes_again(const Config& config);
// Returns on how many following pictures the QP of each picture depends: Config::lookahead where there is a
// bitrate.
int coded_lookahead(const Config& config);

// The fraction in lowest terms.
Rational reduced(Rational value);

}  // namespace cu264::encoder
