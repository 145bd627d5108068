// Checks of the arguments that the functions of cu264/cavlc.h share.
#pragma once

#include <cstdint>
#include <string>

#include "cu264/cavlc.h"
#include "cu264/status.h"

namespace cu264::cavlc {

inline void check_grids(const Grids& grids) {
  if (grids.levels != 15 && grids.levels != 16) {
    throw Error(ErrorCode::invalid_argument, "blocks of " + std::to_string(grids.levels) + " levels",
                "a block has 15 or 16");
  }
  if (grids.width < 1 || grids.height < 1 ||
      static_cast<std::int64_t>(grids.width) * grids.height > std::int64_t{1} << 30) {
    throw Error(ErrorCode::invalid_argument,
                "a grid of " + std::to_string(grids.width) + "x" + std::to_string(grids.height) + " blocks",
                "both are at least 1 and their product at most 2^30");
  }
  if (grids.count > kMaxBlocks || grids.blocks() > kMaxBlocks) {
    throw Error(ErrorCode::invalid_argument, "more than 2^36 blocks", "code them in several calls");
  }
}

}  // namespace cu264::cavlc
