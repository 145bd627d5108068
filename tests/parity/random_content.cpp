#include "tests/parity/random_content.h"

#include <algorithm>
#include <cstdint>

#include "core/block.h"

namespace cu264::parity {
namespace {

using test::Picture;

// Calls value(plane, x, y) for every sample.
template <class Value>
Picture fill(int width, int height, const Value& value) {
  Picture picture(width, height);
  for (int p = 0; p < 3; ++p) {
    std::uint8_t* sample = picture.plane(p);
    for (int y = 0; y < picture.plane_height(p); ++y) {
      for (int x = 0; x < picture.plane_width(p); ++x) *sample++ = static_cast<std::uint8_t>(value(p, x, y));
    }
  }
  return picture;
}

// A ramp that wraps around, which makes edges of full height, under grain.
Picture wrapping_ramp(RandomDraw& draw, int width, int height) {
  const int across = draw.between(-6, 6), down = draw.between(-6, 6), grain = draw.between(1, 9),
            start = draw.between(0, 255);
  return fill(width, height, [&](int p, int x, int y) {
    return start + 40 * p + (across * x + down * y) / 2 + draw.between(0, grain - 1);
  });
}

// Rectangles of the two extreme values.
Picture saturated_rectangles(RandomDraw& draw, int width, int height) {
  const int across = draw.between(1, 40), down = draw.between(1, 40);
  return fill(width, height,
              [&](int p, int x, int y) { return ((x / across + y / down + p) & 1) != 0 ? 255 : 0; });
}

// Strokes of random length in rows, as a raster that knows nothing of rows leaves them.
Picture strokes(RandomDraw& draw, int width, int height) {
  const int length = draw.between(2, 130);
  int i = 0;
  return fill(width, height, [&](int, int, int) { return i++ / length; });
}

// Two pictures in turn, in patches.
Picture patches(RandomDraw& draw, const Picture& first, const Picture& second) {
  const int side = draw.between(1, 5), share = draw.between(1, 7);
  Picture picture = first;
  for (int p = 0; p < 3; ++p) {
    const int width = picture.plane_width(p), bits = p == 0 ? side + 1 : side;
    for (int y = 0; y < picture.plane_height(p); ++y) {
      for (int x = 0; x < width; ++x) {
        const unsigned patch = static_cast<unsigned>(x >> bits) * 7919u + static_cast<unsigned>(y >> bits);
        if ((patch * 2654435761u >> 29) < static_cast<unsigned>(share)) {
          picture.plane(p)[y * width + x] = second.plane(p)[y * width + x];
        }
      }
    }
  }
  return picture;
}

// A flat picture under grain whose strength differs from plane to plane, so that one plane may be all noise
// while the macroblock is far from I_PCM.
Picture grain(RandomDraw& draw, int width, int height) {
  const int strength[3] = {draw.between(0, 120), draw.between(0, 120), draw.between(0, 120)};
  return fill(width, height, [&](int p, int, int) { return 128 + draw.between(-strength[p], strength[p]); });
}

// 4x4 blocks of random amplitudes of the transform's frequencies, from the lowest up to one that is the same
// all over a plane. What the search has to code has nearly as many levels then, great and small.
Picture frequencies(RandomDraw& draw, int width, int height) {
  static constexpr int kWaves[4][4] = {{2, 2, 2, 2}, {3, 1, -1, -3}, {2, -2, -2, 2}, {1, -3, 3, -1}};
  Picture picture(width, height);
  for (int p = 0; p < 3; ++p) {
    const int last = draw.between(0, 15), most = draw.between(1, 24), columns = picture.plane_width(p);
    for (int y = 0; y < picture.plane_height(p); y += 4) {
      for (int x = 0; x < columns; x += 4) {
        int amplitude[16] = {};  // by position in the block
        for (int k = 0; k <= last; ++k) amplitude[core::zigzag_to_raster(k)] = draw.between(-most, most);
        for (int i = 0; i < 16; ++i) {
          if (x + (i & 3) >= columns || y + (i >> 2) >= picture.plane_height(p)) continue;
          int sum = 0;
          for (int k = 0; k < 16; ++k) sum += amplitude[k] * kWaves[k & 3][i & 3] * kWaves[k >> 2][i >> 2];
          picture.plane(p)[(y + (i >> 2)) * columns + x + (i & 3)] =
              static_cast<std::uint8_t>(std::clamp(128 + sum / 4, 0, 255));
        }
      }
    }
  }
  return picture;
}

Picture plain_picture(RandomDraw& draw, int width, int height) {
  switch (draw.between(0, 9)) {
    case 0:
      return wrapping_ramp(draw, width, height);
    case 1:
      return saturated_rectangles(draw, width, height);
    case 2:
      return strokes(draw, width, height);
    case 3:
      return make_picture(test::Content::noise, width, height, static_cast<std::uint32_t>(draw.word()));
    case 4:
    case 5:
      return grain(draw, width, height);
    case 6:
    case 7:
      return frequencies(draw, width, height);
    default:
      return make_picture(draw.one_of(test::kContents), width, height,
                          static_cast<std::uint32_t>(draw.word()));
  }
}

}  // namespace

Picture random_picture(RandomDraw& draw, int width, int height) {
  Picture picture = plain_picture(draw, width, height);
  if (draw.once_in(3)) picture = patches(draw, picture, plain_picture(draw, width, height));
  return picture;
}

}  // namespace cu264::parity
