// Coded pictures on which entropy coders are compared: real ones from the CPU backend, and invented ones.
// Those of P slices are in p_pictures.h.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "cu264/frame.h"
#include "encoder/cpu_picture.h"

namespace cu264::parity {

enum class Content { flat, ramp, texture, noise, half_noise, small_values };

// A picture as a caller would hand it in, and what `reconstruct` made of it.
struct TestPicture {
  std::vector<std::uint8_t> samples;  // the planes one after another, without padding
  encoder::CpuPicture coded;
};

struct Shape {
  int width, height, slices;
  PixelFormat format = PixelFormat::i420;
  bool transform_8x8_mode = false;  // the pictures have Intra_8x8 macroblocks
};

// A picture coded with the fastest preset of the CPU backend.
TestPicture coded_picture(const Shape& shape, Content content, int qp, std::mt19937& random);

// A picture whose levels, modes and kinds are drawn at random: `density` of 256 levels are not zero, and none
// is larger than `largest`. No macroblock has more than 3200 bits.
TestPicture invented_picture(const Shape& shape, int density, int largest, std::mt19937& random);

// Draws the levels of a macroblock, whose record has all but nonzero_blocks, as invented_picture does.
void invent_levels(core::MacroblockRecord& mb, std::int16_t* levels, std::uint8_t* total_coeff, int density,
                   int largest, std::mt19937& random);

// Changes about one macroblock in `one_in` to I_PCM.
void sprinkle_pcm(TestPicture& picture, int one_in, std::mt19937& random);

// A frame that views the samples.
Frame frame_of(const Shape& shape, const std::uint8_t* samples);

}  // namespace cu264::parity
