// Pictures made by code: the same samples on every machine, so that streams of them can be hashed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cu264::test {

// Planar 4:2:0 without padding; chroma sides are rounded up.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;

  Picture() = default;
  Picture(int w, int h);

  int plane_width(int plane) const { return plane == 0 ? width : (width + 1) / 2; }
  int plane_height(int plane) const { return plane == 0 ? height : (height + 1) / 2; }
  std::size_t plane_offset(int plane) const;
  std::uint8_t* plane(int p) { return samples.data() + plane_offset(p); }
  const std::uint8_t* plane(int p) const { return samples.data() + plane_offset(p); }
};

enum class Content {
  noise,         // every sample 0..255 at random: beyond what CAVLC can code at low QP
  graded_noise,  // noise that grows from block to block: some macroblocks just fit 3200 bits, some do not
  flat0,
  flat16,
  flat128,
  flat255,
  checker1,   // 0 and 255 in turn, sample by sample
  checker4,   // in 4x4 squares
  checker16,  // in macroblocks, chroma too: every prediction is the opposite of what is there
  opposites,  // macroblocks of 0 or 255 at random, planes independent of each other
  ramp_horizontal,
  ramp_vertical,
  ramp_diagonal,
  impulse,  // one bright sample in each 8x8
  text,     // small dark strokes on light ground
  natural,  // smooth fields, edges and patches of texture
};

inline constexpr std::array kContents = {
    Content::noise,         Content::graded_noise,    Content::flat0,
    Content::flat16,        Content::flat128,         Content::flat255,
    Content::checker1,      Content::checker4,        Content::checker16,
    Content::opposites,     Content::ramp_horizontal, Content::ramp_vertical,
    Content::ramp_diagonal, Content::impulse,         Content::text,
    Content::natural};

const char* name_of(Content content);

// `seed` gives another picture of the same kind where chance has a part in it.
Picture make_picture(Content content, int width, int height, std::uint32_t seed = 1);

// One picture of each kind.
std::vector<Picture> make_all_contents(int width, int height);

// Of all three planes together, in dB; 100 if equal.
double psnr(const Picture& a, const Picture& b);
double luma_psnr(const Picture& a, const Picture& b);

}  // namespace cu264::test
