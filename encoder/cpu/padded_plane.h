// A plane with memory around it, in which motion vectors may point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cu264::encoder {

struct PaddedPlane {
  int width = 0;
  int height = 0;
  int pad = 0;  // samples on each side
  std::ptrdiff_t pitch = 0;
  std::vector<std::uint8_t> samples;

  void resize(int w, int h, int padding) {
    width = w, height = h, pad = padding;
    pitch = w + 2 * padding;
    samples.assign(static_cast<std::size_t>(pitch) * static_cast<std::size_t>(h + 2 * padding), 0);
  }
  // The coordinates lie in the plane or its padding.
  std::uint8_t* at(int x, int y) { return samples.data() + (y + pad) * pitch + x + pad; }
  const std::uint8_t* at(int x, int y) const { return samples.data() + (y + pad) * pitch + x + pad; }

  // Repeats the first and last sample of a row beside it.
  void pad_row(int y) {
    std::memset(at(-pad, y), *at(0, y), static_cast<std::size_t>(pad));
    std::memset(at(width, y), *at(width - 1, y), static_cast<std::size_t>(pad));
  }
  // Repeats the first and last row, once all rows are padded.
  void pad_top_and_bottom() {
    const auto row = static_cast<std::size_t>(pitch);
    for (int y = 1; y <= pad; ++y) {
      std::memcpy(at(-pad, -y), at(-pad, 0), row);
      std::memcpy(at(-pad, height - 1 + y), at(-pad, height - 1), row);
    }
  }
};

}  // namespace cu264::encoder
