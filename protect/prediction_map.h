// Finds the luma samples of a slice that are used to predict other blocks (H.264 8.3.1 to 8.3.3). A change in
// a block from which nothing is predicted stays in that block.
#pragma once

#include <cstdint>
#include <vector>

#include "protect/slice_parser.h"

namespace cu264::protect {

class PredictionMap {
 public:
  void begin_slice(int mb_width, int macroblocks, int first_mb);
  void add(const MacroblockSyntax& mb);

  // Once the slice is complete, says whether nothing is predicted from the samples that the levels of this
  // 4x4 block reach. In a macroblock of 8x8 transforms these are the samples of the whole 8x8 block.
  bool is_free(int address, int luma4x4BlkIdx) const;

 private:
  struct Entry {
    IntraKind kind = IntraKind::pcm;
    std::int8_t mode[16] = {};  // Intra4x4PredMode, or Intra8x8PredMode of the block around it
    std::uint16_t used = 0;     // bit luma4x4BlkIdx: other blocks are predicted from samples of this one
  };

  void add_small(const MacroblockSyntax& mb);
  void add_large(const MacroblockSyntax& mb);
  void add_whole(const MacroblockSyntax& mb);
  int mode_of(const MacroblockSyntax& mb, int x, int y, int rem) const;
  void use(int x, int y);  // in 4x4 blocks of the picture

  int mb_width_ = 1, first_mb_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace cu264::protect
