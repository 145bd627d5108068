#include "tests/support/moving_pictures.h"

#include <algorithm>
#include <random>

namespace cu264::test {
namespace {

// A sample at (x, y) in sixteenths of a sample, between the four around it; the plane repeats itself.
std::uint8_t sample_between(const std::uint8_t* plane, int width, int height, int x, int y) {
  const auto at = [&](int column, int row) {
    const int c = (column % width + width) % width, r = (row % height + height) % height;
    return static_cast<int>(plane[r * width + c]);
  };
  const int column = x >> 4, row = y >> 4, fx = x & 15, fy = y & 15;
  const int upper = at(column, row) * (16 - fx) + at(column + 1, row) * fx;
  const int lower = at(column, row + 1) * (16 - fx) + at(column + 1, row + 1) * fx;
  return static_cast<std::uint8_t>((upper * (16 - fy) + lower * fy + 128) >> 8);
}

// The picture moved by so many sixteenths of a sample of luma.
Picture moved(const Picture& from, int dx, int dy) {
  Picture to(from.width, from.height);
  for (int p = 0; p < 3; ++p) {
    const int width = from.plane_width(p), height = from.plane_height(p), scale = p == 0 ? 1 : 2;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        to.plane(p)[y * width + x] =
            sample_between(from.plane(p), width, height, 16 * x + dx / scale, 16 * y + dy / scale);
      }
    }
  }
  return to;
}

void add_noise(Picture& picture, int amplitude, std::mt19937& random) {
  for (std::uint8_t& sample : picture.samples) {
    const int noise = static_cast<int>(random() % static_cast<std::uint32_t>(2 * amplitude + 1)) - amplitude;
    sample = static_cast<std::uint8_t>(std::clamp(sample + noise, 0, 255));
  }
}

// Puts a rectangle of `patch` on the picture.
void put_patch(Picture& picture, const Picture& patch, int left, int top) {
  for (int p = 0; p < 3; ++p) {
    const int scale = p == 0 ? 1 : 2, width = picture.plane_width(p), height = picture.plane_height(p);
    for (int y = 0; y < 22 / scale; ++y) {
      for (int x = 0; x < 26 / scale; ++x) {
        const int to_x = left / scale + x, to_y = top / scale + y;
        if (to_x < 0 || to_y < 0 || to_x >= width || to_y >= height) continue;
        picture.plane(p)[to_y * width + to_x] =
            patch.plane(p)[std::min(y, height - 1) * width + std::min(x, width - 1)];
      }
    }
  }
}

}  // namespace

const char* name_of(Motion motion) {
  static constexpr const char* names[] = {"still", "slow", "fast",  "objects",
                                          "fade",  "cut",  "noise", "noisy"};
  return names[static_cast<int>(motion)];
}

std::vector<Picture> make_clip(Motion motion, int width, int height, int count, std::uint32_t seed) {
  const Picture first = make_picture(Content::natural, width, height, seed);
  const Picture second = make_picture(Content::text, width, height, seed + 1);
  std::mt19937 random(seed);
  std::vector<Picture> clip;
  for (int i = 0; i < count; ++i) {
    Picture picture = first;
    switch (motion) {
      case Motion::still:
        break;
      case Motion::slow:
        picture = moved(first, 13 * i, -7 * i);
        break;
      case Motion::fast:
        picture = moved(first, 16 * 23 * i + 5 * i, 16 * 17 * i);
        break;
      case Motion::objects:
        put_patch(picture, second, 9 * i - 8, 3 * i - 4);
        break;
      case Motion::fade:
        for (std::uint8_t& sample : picture.samples)
          sample = static_cast<std::uint8_t>(sample * (count - 1 - i) / std::max(count - 1, 1));
        break;
      case Motion::cut:
        if (i >= count / 2) picture = second;
        break;
      case Motion::noise:
        picture = make_picture(Content::noise, width, height, seed + static_cast<std::uint32_t>(i));
        break;
      case Motion::noisy:
        picture = moved(first, -5 * i, 11 * i);
        add_noise(picture, 6, random);
        break;
    }
    clip.push_back(std::move(picture));
  }
  return clip;
}

}  // namespace cu264::test
