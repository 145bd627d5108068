#include "support/picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cu264::test {
namespace {

std::uint32_t mixed(std::uint32_t v) {
  v ^= v >> 16, v *= 0x7feb352du;
  v ^= v >> 15, v *= 0x846ca68bu;
  return v ^ v >> 16;
}

std::uint32_t chance(int x, int y, std::uint32_t seed) {
  return mixed(static_cast<std::uint32_t>(x) + mixed(static_cast<std::uint32_t>(y) + mixed(seed)));
}

// A smooth field of 0..255: random values on a lattice `step` apart, a power of two, and bilinear between.
int smooth(int x, int y, int step, std::uint32_t seed) {
  const auto lattice = [&](int i, int j) { return static_cast<int>(chance(i, j, seed) & 255); };
  const int i = x / step, j = y / step, u = x % step, v = y % step;
  const int top = lattice(i, j) * (step - u) + lattice(i + 1, j) * u;
  const int bottom = lattice(i, j + 1) * (step - u) + lattice(i + 1, j + 1) * u;
  return (top * (step - v) + bottom * v) / (step * step);
}

// x and y are luma positions, so that edges of the planes coincide.
int natural(int plane, int x, int y, std::uint32_t seed) {
  const std::uint32_t own = seed * 16 + static_cast<std::uint32_t>(plane) * 4;
  int value = plane == 0 ? (smooth(x, y, 128, own) * 2 + smooth(x, y, 32, own + 1)) / 3
                         : 96 + smooth(x, y, 128, own) / 4;
  const int object = smooth(x, y, 64, seed * 16 + 13) > 150 ? 1 : 0;
  const int beam = ((x + 2 * y) / 48) % 5 == 0 ? 1 : 0;
  value += plane == 0 ? 45 * object - 35 * beam : (plane == 1 ? 20 : -20) * object;
  const int texture = smooth(x, y, 64, seed * 16 + 14);
  if (plane == 0 && texture > 140) {
    value += (smooth(x, y, 4, own + 2) - 128) * (texture - 140) / 110 +
             static_cast<int>(chance(x, y, own) % 9) - 4;
  }
  return value + static_cast<int>(chance(x, y, own + 3) % 3) - 1;
}

int text(int plane, int x, int y, std::uint32_t seed) {
  const int column = x / 7, line = y / 12, u = x % 7, v = y % 12;
  const std::uint32_t glyph = chance(column, line, seed);
  const bool word = (glyph & 7) != 0 && u < 5 && v > 1 && v < 10;
  const bool ink = word && ((u == static_cast<int>(glyph >> 4 & 3)) ||
                            v == static_cast<int>(2 + (glyph >> 8 & 7)) || (glyph >> 12 & 1 && u + v == 8));
  if (plane == 0) return ink ? 16 : 235;
  return chance(0, line, seed) % 4 == 0 && ink ? (plane == 1 ? 90 : 200) : 128;
}

int sample(Content content, int plane, int x, int y, std::uint32_t seed) {
  const int scale = plane == 0 ? 1 : 2;
  const std::uint32_t own = seed * 4 + static_cast<std::uint32_t>(plane);
  const auto squares = [&](int size) { return (x / size + y / size) % 2 == 0 ? 0 : 255; };
  const int block_x = x * scale / 16, block_y = y * scale / 16;
  switch (content) {
    case Content::noise:
      return static_cast<int>(chance(x, y, own) & 255);
    case Content::graded_noise: {
      const int amplitude = 1 + static_cast<int>(chance(block_x, block_y, seed) % 255);
      return 128 - amplitude / 2 +
             static_cast<int>(chance(x, y, own) % static_cast<std::uint32_t>(amplitude + 1));
    }
    case Content::flat0:
      return 0;
    case Content::flat16:
      return plane == 0 ? 16 : 128;
    case Content::flat128:
      return 128;
    case Content::flat255:
      return 255;
    case Content::checker1:
      return squares(1);
    case Content::checker4:
      return squares(4);
    case Content::checker16:
      return squares(16 / scale);
    case Content::opposites:
      return chance(block_x, block_y, own) & 1 ? 255 : 0;
    case Content::ramp_horizontal:
      return x * scale * 3 & 255;
    case Content::ramp_vertical:
      return y * scale * 3 & 255;
    case Content::ramp_diagonal:
      return (x + y) * scale * 2 & 255;
    case Content::impulse: {
      const std::uint32_t at = chance(x / 8, y / 8, own) & 63;
      return static_cast<int>(at) == (y % 8) * 8 + x % 8 ? 255 : 40;
    }
    case Content::text:
      return text(plane, x * scale, y * scale, seed);
    case Content::natural:
      return natural(plane, x * scale, y * scale, seed);
  }
  return 0;
}

double psnr_of(const std::uint8_t* a, const std::uint8_t* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum == 0 ? 100 : 10 * std::log10(255.0 * 255.0 * static_cast<double>(count) / sum);
}

double psnr_of(const Picture& a, const Picture& b, bool chroma) {
  if (a.width != b.width || a.height != b.height) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t count = chroma ? a.samples.size() : a.plane_offset(1);
  return psnr_of(a.samples.data(), b.samples.data(), count);
}

}  // namespace

Picture::Picture(int w, int h) : width(w), height(h) {
  samples.resize(plane_offset(3));
}

std::size_t Picture::plane_offset(int plane) const {
  std::size_t offset = 0;
  for (int p = 0; p < plane; ++p) offset += static_cast<std::size_t>(plane_width(p)) * plane_height(p);
  return offset;
}

const char* name_of(Content content) {
  static constexpr const char* names[] = {
      "noise",         "graded_noise", "flat0",     "flat16",    "flat128",         "flat255",
      "checker1",      "checker4",     "checker16", "opposites", "ramp_horizontal", "ramp_vertical",
      "ramp_diagonal", "impulse",      "text",      "natural"};
  static_assert(std::size(names) == kContents.size());
  return names[static_cast<std::size_t>(content)];
}

Picture make_picture(Content content, int width, int height, std::uint32_t seed) {
  Picture picture(width, height);
  for (int p = 0; p < 3; ++p) {
    std::uint8_t* out = picture.plane(p);
    for (int y = 0; y < picture.plane_height(p); ++y) {
      for (int x = 0; x < picture.plane_width(p); ++x) {
        *out++ = static_cast<std::uint8_t>(std::clamp(sample(content, p, x, y, seed), 0, 255));
      }
    }
  }
  return picture;
}

std::vector<Picture> make_all_contents(int width, int height) {
  std::vector<Picture> pictures;
  for (const Content content : kContents) pictures.push_back(make_picture(content, width, height));
  return pictures;
}

double psnr(const Picture& a, const Picture& b) {
  return psnr_of(a, b, true);
}

double luma_psnr(const Picture& a, const Picture& b) {
  return psnr_of(a, b, false);
}

}  // namespace cu264::test
