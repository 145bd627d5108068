// Scaling lists that are as far from flat as they may be, and pictures whose levels are as large as they
// become.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

#include "cu264/scaling_lists.h"
#include "support/picture.h"

namespace cu264::test {

enum class Lists { jvt, ones, largest, steep, falling, by_plane, random };
inline constexpr Lists kLists[] = {Lists::jvt,     Lists::ones,     Lists::largest, Lists::steep,
                                   Lists::falling, Lists::by_plane, Lists::random};
inline const char* name_of_lists(Lists lists) {
  static constexpr const char* names[] = {"jvt", "ones", "largest", "steep", "falling", "by_plane", "random"};
  return names[static_cast<int>(lists)];
}

// Fills a list with what `weight` gives for a frequency of 0 to 1.
template <std::size_t size, class Weight>
void fill(std::array<std::uint8_t, size>& list, const Weight& weight) {
  constexpr std::size_t side = size == 16 ? 4 : 8;
  for (std::size_t i = 0; i < size; ++i) {
    const double frequency = static_cast<double>(i % side + 2 * (i / side)) / (3 * (side - 1));
    list[i] = static_cast<std::uint8_t>(weight(frequency));  // not symmetric
  }
}

template <class Weight>
void fill_all(ScalingLists& lists, const Weight& weight) {
  fill(lists.luma4x4, weight), fill(lists.cb4x4, weight), fill(lists.cr4x4, weight);
  fill(lists.luma8x8, weight);
}

inline ScalingLists make_lists(Lists kind) {
  ScalingLists lists = jvt_scaling_lists();
  const auto flat = [](int weight) { return [weight](double) { return weight; }; };
  std::mt19937 random(5);
  switch (kind) {
    case Lists::jvt:
      break;
    case Lists::ones:
      fill_all(lists, flat(1));
      break;
    case Lists::largest:
      fill_all(lists, flat(255));
      break;
    case Lists::steep:
      fill_all(lists, [](double frequency) { return 1 + 254 * frequency; });
      break;
    case Lists::falling:
      fill_all(lists, [](double frequency) { return 255 - 254 * frequency; });
      break;
    case Lists::by_plane:  // the luma list is the default, and each other one is different
      fill(lists.cb4x4, flat(3)), fill(lists.cr4x4, flat(40)), fill(lists.luma8x8, flat(9));
      break;
    case Lists::random:
      fill_all(lists, [&](double) { return random() % 3 == 0 ? 1 + random() % 3 : 1 + random() % 255; });
      break;
  }
  return lists;
}

// Blocks of black and white that the prediction seldom foresees: levels and values of the inverse transforms
// are as large as they become.
inline Picture extreme_picture(int width, int height, unsigned seed) {
  Picture picture(width, height);
  std::mt19937 random(seed);
  for (int p = 0; p < 3; ++p) {
    const int plane_width = picture.plane_width(p);
    for (int y = 0; y < picture.plane_height(p); ++y) {
      for (int x = 0; x < plane_width; ++x) {
        const unsigned block = static_cast<unsigned>(x / 4 + 31 * (y / 4) + 7 * p) * 2654435761u >> 16;
        const bool white = block % 5 == 0   ? (x + y) % 2 != 0
                           : block % 5 == 1 ? x % 2 != 0
                           : block % 5 == 2 ? y % 4 > 1
                           : block % 5 == 3 ? block % 2 != 0
                                            : random() % 2 != 0;
        picture.plane(p)[y * plane_width + x] = white ? 255 : 0;
      }
    }
  }
  return picture;
}

}  // namespace cu264::test
