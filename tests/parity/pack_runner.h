// Codes and packs a batch on the GPU. The CUDA runtime stays behind this header.
#pragma once

#include <cstdint>
#include <vector>

#include "entropy/pack/pack_batch.h"
#include "tests/parity/coded_pictures.h"

namespace cu264::parity {

struct PackedBatch {
  std::vector<std::uint8_t> stream;
  std::vector<entropy::PackedPicture> pictures;
};

// `repeats` times with the same scratch, which holds rubbish at first; so do the levels of empty blocks.
// `capacity` 0: as much as may be needed. Throws std::runtime_error with CUDA's own message.
std::vector<PackedBatch> pack_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                        const std::vector<entropy::SliceHeaderBits>& headers,
                                        std::uint64_t first_picture, int repeats, std::uint64_t capacity = 0);

}  // namespace cu264::parity
