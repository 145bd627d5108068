// Blocks for the functions of cu264/cavlc.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "cu264/cavlc.h"

namespace cu264::test {

struct CavlcBlocks {
  std::vector<std::int16_t> levels;
  std::vector<std::uint8_t> nC;
};

// Every nC with every number of levels up to `most`, for magnitudes around those at which a level's code
// changes its form: level_prefix 14 and 15 for each suffixLength.
inline CavlcBlocks every_context_and_escape(int most) {
  CavlcBlocks blocks;
  for (int context = 0; context <= 16; ++context) {
    for (int count = 0; count <= most; ++count) {
      for (const int level : {1, 2, 7, 8, 15, 16, 17, 31, 32, 61, 121, 241, 481, 482, 2062, 2063}) {
        std::vector<std::int16_t> block(cavlc::kBlockLevels);
        for (int k = 0; k < count; ++k)
          block[static_cast<std::size_t>(k)] = static_cast<std::int16_t>((k + count) % 2 ? level : -level);
        if (count > 1) {
          std::swap(block[static_cast<std::size_t>(count - 1)],
                    block[static_cast<std::size_t>((count + most) / 2 - 1)]);
        }
        blocks.levels.insert(blocks.levels.end(), block.begin(), block.end());
        blocks.nC.push_back(static_cast<std::uint8_t>(context));
      }
    }
  }
  return blocks;
}

}  // namespace cu264::test
