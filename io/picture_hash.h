// A hash of a picture's samples that does not depend on the distance between its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cu264::io {

class PictureHash {
 public:
  void add_plane(const std::uint8_t* samples, std::ptrdiff_t pitch, int width, int height) {
    for (int y = 0; y < height; ++y) {
      const std::uint8_t* row = samples + y * pitch;
      int x = 0;
      for (; x + 8 <= width; x += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, row + x, 8);
        add(word);
      }
      for (; x < width; ++x) add(row[x]);
    }
  }

  std::uint64_t value() const { return hash_; }

 private:
  // Each step is a bijection of the state, so pictures that differ in one word never collide.
  void add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// Returns the hash of a planar 4:2:0 picture with even sides and no padding.
inline std::uint64_t hash_planar(const std::uint8_t* samples, int width, int height) {
  PictureHash hash;
  const std::size_t luma = static_cast<std::size_t>(width) * height;
  hash.add_plane(samples, width, width, height);
  hash.add_plane(samples + luma, width / 2, width / 2, height / 2);
  hash.add_plane(samples + luma + luma / 4, width / 2, width / 2, height / 2);
  return hash.value();
}

}  // namespace cu264::io
