// Says where the pictures and edge maps of a batch lie in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device_batch.h"
#include "core/hd.h"

namespace cu264::vision::cuda {

template <class Sample>
struct Plane {
  Sample* data = nullptr;
  std::ptrdiff_t pitch = 0;  // bytes; negative: bottom-up

  CU264_HD_MEMBER Sample* row(int y) const { return data + static_cast<std::ptrdiff_t>(y) * pitch; }
};

// Pictures of 8-bit samples: evenly spaced, or, where `table` is not null, plane 0 of each of its entries.
struct PicturePlanes {
  const std::uint8_t* first = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t distance = 0;                 // bytes from one picture to the next
  const core::SourcePicture* table = nullptr;  // in device memory

  CU264_HD_MEMBER Plane<const std::uint8_t> operator[](int picture) const {
    if (table != nullptr) return {table[picture].plane[0], table[picture].pitch[0]};
    return {first + picture * distance, pitch};
  }
};

// Edge maps, evenly spaced.
struct EdgePlanes {
  std::uint8_t* first = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t distance = 0;

  CU264_HD_MEMBER Plane<std::uint8_t> operator[](int picture) const {
    return {first + picture * distance, pitch};
  }
};

}  // namespace cu264::vision::cuda
